/** Who gives a value to which setting: flag, then environment, then file, then the local cluster. */
import { CONFIG_ENV, CONFIG_FILE, CONFIG_FLAG, settings } from './catalogue.ts';
import { findUnknownVariables, giveVariable, readVariable, type Environment } from './environment.ts';
import type { FieldPath } from './fields.ts';
import type { Given } from './given.ts';
import type { FileSettings } from './parse-settings.ts';
import type { Raw } from './parsers.ts';
import { readSettingsFile } from './settings-file.ts';

export type RawSettings = Readonly<Partial<Record<FieldPath, Raw>>>;

export interface LoadOptions {
  readonly flags: RawSettings;
  readonly env: Environment;
  /** The file named by `--config`; without it TRAWL_CONFIG, then config/trawl.yaml where it exists. */
  readonly file?: string | undefined;
  readonly cwd: string;
  /** How to reach the cluster that runs on this machine; a secret among them may be the value itself. */
  readonly localDefaults?: RawSettings | undefined;
}

export function gatherSettings(options: LoadOptions): FileSettings {
  const file = readFile(options);
  const given = new Map<FieldPath, Given>();
  for (const setting of settings) {
    const flag = options.flags[setting.path];
    const found =
      flag === undefined
        ? (giveVariable(setting, options.env) ?? file.given.get(setting.path))
        : ({ raw: flag, source: { kind: 'flag', where: `--${setting.flag}` } } as const);
    if (found !== undefined) given.set(setting.path, found);
  }
  addLocalDefaults(given, options.localDefaults ?? {});
  return { given, problems: [...file.problems, ...findUnknownVariables(options.env)] };
}

function readFile({ file, env, cwd }: LoadOptions): FileSettings {
  if (file !== undefined) return readSettingsFile({ path: file, cwd, namedBy: `--${CONFIG_FLAG}` });
  const named = readVariable(env, CONFIG_ENV);
  if (named !== undefined) return readSettingsFile({ path: named, cwd, namedBy: CONFIG_ENV });
  return readSettingsFile({ path: CONFIG_FILE, cwd, namedBy: undefined });
}

/**
 * Address, credentials, size and key of the local cluster go together: once anyone sets a part of the connection,
 * the rest of the local one must not join it, or the local password would be sent to a foreign server.
 */
function addLocalDefaults(given: Map<FieldPath, Given>, localDefaults: RawSettings): void {
  const connectsElsewhere = settings.some(
    ({ path, section }) => section === 'nats' && path !== 'nats.replicas' && given.has(path),
  );
  for (const { path, section } of settings) {
    const raw = localDefaults[path];
    if (raw === undefined || given.has(path) || (connectsElsewhere && isOwn({ path, section }))) continue;
    given.set(path, { raw, source: { kind: 'local', where: 'local cluster' } });
  }
}

function isOwn({ path, section }: { path: FieldPath; section: string }): boolean {
  return section === 'nats' || path === 'egress.key';
}
