/**
 * The configuration of a process, frozen, with the origin of every value.
 * All that is wrong is reported at once, so that nobody finds the mistakes one start at a time.
 */
import { Failure } from '../domain/failure.ts';
import { CONFIG_FILE, settings, type Setting } from './catalogue.ts';
import type { Config, FieldPath } from './fields.ts';
import { gatherSettings, type LoadOptions } from './gather.ts';
import { describeProblem, joinRaw, type Given, type Source } from './given.ts';
import type { Parsed, Raw } from './parsers.ts';
import { rules } from './rules.ts';
import { followReference } from './secret-reference.ts';

const HIDDEN = '[redacted]';

/** Where a value came from, and its text there: a secret's is hidden, that of an unset one is empty. */
export interface Origin extends Source {
  readonly text: string;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly sources: ReadonlyMap<FieldPath, Origin>;
}

export function loadConfig(options: LoadOptions): LoadedConfig {
  const { given, problems: found } = gatherSettings(options);
  const problems = [...found];
  const values = new Map<FieldPath, unknown>();
  const sources = new Map<FieldPath, Origin>();
  const wrong = new Set<FieldPath>();

  for (const setting of settings) {
    const entry = given.get(setting.path);
    const parsed = entry === undefined ? parseDefault(setting) : parseGiven(setting, entry, options);
    sources.set(setting.path, describeOrigin(setting, entry));
    if (parsed.ok) {
      values.set(setting.path, parsed.value);
    } else {
      wrong.add(setting.path);
      problems.push(parsed.problem);
    }
  }

  const config = buildConfig(values);
  for (const rule of rules) {
    // What is wrong in itself has been reported; a rule over it would only repeat that.
    if (rule.about.some((path) => wrong.has(path))) continue;
    const problem = rule.check(config, (path) => `${path} (${sources.get(path)?.where ?? ''})`);
    if (problem !== undefined) problems.push(problem);
  }
  if (problems.length > 0) throw createFailure(problems);
  return { config, sources };
}

type Read = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

function parseDefault({ path, field }: Setting): Read {
  if (field.default === undefined) return { ok: true, value: undefined };
  const parsed = field.parser.parse(field.default);
  // A fault of the table, not of the user.
  if (!parsed.ok) throw new Failure('INTERNAL', `the default of ${path} is not ${field.parser.allowed}`);
  return parsed;
}

function parseGiven(setting: Setting, given: Given, options: LoadOptions): Read {
  const { parser } = setting.field;
  const parsed = parser.secret ? parseSecret(setting, given, options) : parser.parse(trim(given.raw));
  return parsed.ok ? parsed : { ok: false, problem: describeProblem(setting, given, parsed) };
}

function parseSecret(setting: Setting, given: Given, { env, cwd }: LoadOptions): Parsed<unknown> {
  if (typeof given.raw !== 'string') return { ok: false };
  const literalAllowed = given.source.kind === 'env' || given.source.kind === 'local';
  const variable = setting.env[0] ?? '';
  const followed = followReference(given.raw, { env, cwd, literalAllowed, variable });
  return followed.ok ? setting.field.parser.parse(followed.value) : followed;
}

/** A file with Windows line ends leaves a carriage return after every value of an environment. */
function trim(raw: Raw): Raw {
  return typeof raw === 'string' ? raw.trim() : raw.map((each) => each.trim());
}

function describeOrigin({ field }: Setting, given: Given | undefined): Origin {
  if (given === undefined) return { kind: 'default', where: 'default', text: field.default ?? '' };
  return { ...given.source, text: field.parser.secret ? HIDDEN : joinRaw(given.raw) };
}

function buildConfig(values: ReadonlyMap<FieldPath, unknown>): Config {
  const root: Record<string, unknown> = {};
  const groups = new Map<string, Record<string, unknown>>([['general', root]]);
  for (const { path, section, key } of settings) {
    const group = groups.get(section) ?? {};
    groups.set(section, group);
    group[key] = Object.freeze(values.get(path));
    if (group !== root) root[section] = group;
  }
  for (const group of groups.values()) Object.freeze(group);
  // The keys and the parsers of the table made this object; `Config` is the type of the same two.
  // A setting that was wrong is missing, but then nobody sees the object except rules that do not ask for it.
  return root as Config;
}

function createFailure(problems: readonly string[]): Failure {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  return new Failure(
    'INVALID',
    [`The configuration has ${count}:`, ...problems.map((line) => `  ${line}`)].join('\n'),
    {
      hint: `${CONFIG_FILE} lists every setting with its meaning and default.`,
    },
  );
}

export interface ConfigRow {
  readonly path: FieldPath;
  readonly value: string;
  readonly source: Source;
}

/** Every setting with its value and where that came from, for a person to read. */
export function describeConfig({ sources }: LoadedConfig): readonly ConfigRow[] {
  return [...sources].map(([path, { kind, where, text }]) => ({
    path,
    value: text,
    source: { kind, where },
  }));
}
