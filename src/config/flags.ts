/** The settings as flags of the command line. */
import { Failure } from '../domain/failure.ts';
import { CONFIG_ENV, CONFIG_FILE, CONFIG_FLAG, settings } from './catalogue.ts';
import type { FieldPath, SectionName } from './fields.ts';
import type { RawSettings } from './gather.ts';
import type { Raw } from './parsers.ts';

/** In the form that yargs takes. All are text, so that one parser reads flags, environment and file alike. */
export interface FlagOption {
  readonly type: 'string';
  readonly alias?: string;
  readonly describe: string;
  readonly group: string;
  readonly defaultDescription?: string;
}

/** The flags of the given sections, of all without an argument; `--config` is always among them. */
export function flagOptions(sections?: readonly SectionName[]): Record<string, FlagOption> {
  const options: Record<string, FlagOption> = {
    [CONFIG_FLAG]: {
      type: 'string',
      describe: `File of settings (or ${CONFIG_ENV})`,
      group: groupOf('general'),
      defaultDescription: CONFIG_FILE,
    },
  };
  for (const { flag, field, section } of settings) {
    if (sections !== undefined && !sections.includes(section)) continue;
    options[flag] = {
      type: 'string',
      ...(field.flagAlias !== undefined && { alias: field.flagAlias }),
      describe: field.doc,
      group: groupOf(section),
      ...(field.default !== undefined && { defaultDescription: field.default }),
    };
  }
  return options;
}

function groupOf(section: SectionName): string {
  return section === 'general' ? 'Settings:' : `Settings of ${section}:`;
}

export interface GivenFlags {
  readonly flags: RawSettings;
  readonly file: string | undefined;
}

/** Takes the settings out of what yargs parsed, as `loadConfig` wants them. */
export function flagsFromArgv(argv: Readonly<Record<string, unknown>>): GivenFlags {
  const flags: Partial<Record<FieldPath, Raw>> = {};
  for (const { path, flag } of settings) {
    const raw = readFlag(argv[flag]);
    if (raw !== undefined) flags[path] = raw;
  }
  const file = readFlag(argv[CONFIG_FLAG]);
  if (file !== undefined && (typeof file !== 'string' || file === ''))
    throw new Failure('INVALID', `--${CONFIG_FLAG} takes one file`, {
      hint: `For example --${CONFIG_FLAG} ${CONFIG_FILE}`,
    });
  return { flags, file };
}

/** yargs answers a flag without a value with '', `--no-flag` with false, and a repeated flag with a list. */
function readFlag(value: unknown): Raw | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'string' ? value : '';
}
