/** Reads a schedule's settings one by one and collects what is wrong with them, so that a person sees it all. */
import { PRIORITIES, type Priority } from '../domain/task.ts';
import { normalizeUrl } from '../domain/url.ts';

/** Where a setting is wrong, some value of the right type comes back: nobody uses it once there is a problem. */
export interface ScheduleReader {
  readonly problems: readonly string[];
  problem(text: string): void;
  has(key: string): boolean;
  token(key: string, charactersMax: number): string;
  text(key: string): string | undefined;
  duration(key: string, range: { readonly minMs: number; readonly maxMs: number }): number | undefined;
  priority(key: string): Priority;
  object(key: string): Readonly<Record<string, unknown>>;
  urls(key: string): readonly string[];
  flag(key: string, otherwise: boolean): boolean;
  /** The first option is the default. */
  choice<const T extends string>(key: string, options: readonly [T, ...T[]]): T;
}

const URLS_MAX = 10_000;

export function createScheduleReader(input: unknown, keys: readonly string[]): ScheduleReader {
  const problems: string[] = [];
  const settings = isObject(input) ? input : {};
  if (!isObject(input)) problems.push('a schedule is an object of settings');
  for (const key of Object.keys(settings))
    if (!keys.includes(key)) problems.push(`${key} is no setting of a schedule: it has ${keys.join(', ')}`);

  /** The value if it is there and `accept` takes it; the problem is noted otherwise. */
  function read<T>(key: string, allowed: string, accept: (value: unknown) => T | undefined): T | undefined {
    const value = settings[key];
    if (value === undefined) return undefined;
    const accepted = accept(value);
    if (accepted === undefined) problems.push(`${key} must be ${allowed}, not ${show(value)}`);
    return accepted;
  }

  return {
    problems,
    problem: (text) => void problems.push(text),
    has: (key) => settings[key] !== undefined,
    token(key, charactersMax) {
      const isToken = (value: unknown): value is string =>
        typeof value === 'string' && /^[A-Za-z0-9_-]+$/.test(value) && value.length <= charactersMax;
      if (settings[key] === undefined) problems.push(`${key} is missing`);
      const allowed = `1 to ${charactersMax} letters, digits, "_" or "-"`;
      return read(key, allowed, (value) => (isToken(value) ? value : undefined)) ?? '';
    },
    text: (key) =>
      read(key, 'text', (value) => (typeof value === 'string' && value.trim() !== '' ? value : undefined)),
    duration(key, { minMs, maxMs }) {
      const allowed = `whole seconds from ${minMs / 1000}s to ${maxMs / 86_400_000}d, with a unit (90s, 15m, 1h30m, 1d)`;
      return read(key, allowed, (value) => {
        const ms = typeof value === 'string' ? durationMs(value) : undefined;
        return ms !== undefined && ms >= minMs && ms <= maxMs ? ms : undefined;
      });
    },
    priority: (key) =>
      read(key, 'a whole number from 0 to 9', (value) => PRIORITIES.find((each) => each === value)) ?? 0,
    object: (key) => read(key, 'an object', (value) => (isObject(value) ? value : undefined)) ?? {},
    urls: (key) =>
      read(key, `a list of 1 to ${URLS_MAX} addresses that begin with http:// or https://`, (value) =>
        isUrlList(value) ? value : undefined,
      ) ?? [],
    flag: (key, otherwise) =>
      read(key, 'true or false', (value) => (typeof value === 'boolean' ? value : undefined)) ?? otherwise,
    choice: (key, options) =>
      read(key, options.join(' or '), (value) => options.find((option) => option === value)) ?? options[0],
  };
}

const MS_PER_UNIT: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `1h30m`, each unit once and from the greatest down. A number without a unit has too many readings. */
function durationMs(text: string): number | undefined {
  const parts = /^(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?$/.exec(text.trim());
  if (!parts || parts[0] === '') return undefined;
  return ['d', 'h', 'm', 's'].reduce(
    (sum, unit, i) => sum + Number(parts[i + 1] ?? 0) * (MS_PER_UNIT[unit] ?? 0),
    0,
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isUrlList(value: unknown): value is readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > URLS_MAX) return false;
  return value.every((url) => typeof url === 'string' && isUrl(url));
}

function show(value: unknown): string {
  // What came as msgpack may hold integers that JSON does not know.
  const plain = (_: string, part: unknown): unknown => (typeof part === 'bigint' ? String(part) : part);
  const text = JSON.stringify(value, plain) as string | undefined;
  if (text === undefined) return typeof value;
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
}

function isUrl(text: string): boolean {
  try {
    normalizeUrl(text);
    return true;
  } catch {
    return false;
  }
}
