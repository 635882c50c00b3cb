/** Makes the README's table of settings, and puts it between its two marks. */
import { Failure } from '../domain/failure.ts';
import { describeAllowed, settings, type Setting } from './catalogue.ts';

const BEGIN = '<!-- config:begin -->';
const END = '<!-- config:end -->';

export function renderConfigTable(): string {
  const head = ['Setting', 'Default', 'Environment', 'Flag', 'Meaning'];
  const rows = [head, head.map(() => '---'), ...settings.map(renderRow)];
  return rows.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function renderRow(setting: Setting): readonly string[] {
  const { path, field, env, flag } = setting;
  const flags = field.flagAlias === undefined ? [flag] : [flag, field.flagAlias];
  const allowed = describeAllowed(setting);
  return [
    code(path),
    field.default === undefined ? '' : code(field.default),
    env.map(code).join(', '),
    flags.map((name) => code(`--${name}`)).join(', '),
    escape(allowed === undefined ? `${field.doc}.` : `${field.doc}. ${allowed}`),
  ];
}

function code(text: string): string {
  return `\`${escape(text)}\``;
}

/** A bar would end the cell. */
function escape(text: string): string {
  return text.replaceAll('|', '\\|');
}

/** The README with the table as it should be. */
export function replaceConfigTable(readme: string): string {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin === -1 || end < begin)
    throw new Failure('INVALID', 'The README has no place for the table of settings', {
      hint: `Write ${BEGIN} and ${END} on lines of their own, in this order.`,
    });
  return `${readme.slice(0, begin + BEGIN.length)}\n\n${renderConfigTable()}\n${readme.slice(end)}`;
}
