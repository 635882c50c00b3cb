/** Makes config/trawl.yaml: every setting, commented out at its default, with its meaning. */
import { CONFIG_ENV, CONFIG_FLAG, describeAllowed, settings } from './catalogue.ts';

const HEAD = [
  '# Settings of Trawl. This file is made from the table in src/config/fields.ts by "make docs".',
  '# Every key below stands at its default; remove the "# " before it to set another value.',
  '# A flag wins over an environment variable, and that over this file.',
  `# Another file can be named with --${CONFIG_FLAG} or ${CONFIG_ENV}.`,
];

export function renderDefaultFile(): string {
  const lines = [...HEAD];
  let current = 'general';
  for (const setting of settings) {
    const { field, key, section } = setting;
    lines.push('');
    if (section !== current) lines.push(`${section}:`);
    current = section;

    const allowed = describeAllowed(setting);
    const comments = [`${field.doc}.`, ...(allowed === undefined ? [] : [allowed])];
    const indent = section === 'general' ? '' : '  ';
    const assignment = field.default === undefined ? `${key}:` : `${key}: ${field.default}`;
    for (const comment of [...comments, assignment]) lines.push(`${indent}# ${comment}`);
  }
  return `${lines.join('\n')}\n`;
}
