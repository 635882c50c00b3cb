/** What differs between a definition and what the server has. Pure: the caller reads, and acts. */

type Settings = Readonly<Record<string, unknown>>;

export interface Drift {
  readonly setting: string;
  readonly want: unknown;
  readonly have: unknown;
}

/** The server's own notes on a stream; nobody sets them. */
const SERVER_NOTES = new Set(['metadata', 'name', 'pause_until']);

export function findDrift(want: Settings, have: Settings): Drift[] {
  const settings = new Set([...Object.keys(want), ...Object.keys(have)]);
  return [...settings]
    .filter((setting) => !SERVER_NOTES.has(setting) && !sameSetting(want[setting], have[setting]))
    .map((setting) => ({ setting, want: want[setting], have: have[setting] }))
    .sort((a, b) => (a.setting < b.setting ? -1 : 1));
}

/** A definition may leave out what the server spells out as "off", so an absent setting equals an empty one. */
function sameSetting(want: unknown, have: unknown): boolean {
  if (isOff(want) && isOff(have)) return true;
  if (Array.isArray(want) && Array.isArray(have)) {
    return want.length === have.length && want.every((item, index) => sameSetting(item, have[index]));
  }
  if (isRecord(want) && isRecord(have)) return findDrift(want, have).length === 0;
  return want === have;
}

function isOff(value: unknown): boolean {
  if (isRecord(value)) return Object.values(value).every(isOff);
  return (
    value === undefined ||
    value === null ||
    value === false ||
    value === 0 ||
    value === '' ||
    value === 'none'
  );
}

function isRecord(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
