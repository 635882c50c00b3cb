/** How the text of a setting becomes its value. Pure: whatever reads files or the environment is elsewhere. */
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { parseDuration } from '../domain/duration.ts';
import { Secret } from '../domain/secret.ts';

/** Flags and variables are text, a repeated flag or a YAML list is several; numbers stay as they were written. */
export type Raw = string | readonly string[];

/** `problem` replaces the usual sentence ("must be …, not …") where that would not help or would show too much. */
export type Parsed<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem?: string };

export interface Parser<T> {
  /** Completes the sentence "it must be …". */
  readonly allowed: string;
  readonly secret: boolean;
  parse(raw: Raw): Parsed<T>;
}

const REFUSED = { ok: false } as const;

function ok<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

/** A parser of exactly one text; `read` answers undefined for what it does not take. */
function single<T>(allowed: string, read: (text: string) => T | undefined): Parser<T> {
  return {
    allowed,
    secret: false,
    parse(raw) {
      if (typeof raw !== 'string') return { ok: false, problem: `takes one value, not ${raw.length}` };
      const value = read(raw);
      return value === undefined ? REFUSED : ok(value);
    },
  };
}

export const text = single('one line of text', (given) =>
  given !== '' && !/\p{Cc}/u.test(given) ? given : undefined,
);

/** Text that can be one token of a NATS subject. */
export function token(charactersMax: number): Parser<string> {
  return single(`1 to ${charactersMax} letters, digits, "_" or "-"`, (given) =>
    /^[A-Za-z0-9_-]+$/.test(given) && given.length <= charactersMax ? given : undefined,
  );
}

function readInteger(given: string, range: { min: number; max: number }): number | undefined {
  // A leading zero is octal to some readers and decimal to others, so it is refused.
  if (!/^(0|[1-9]\d*)$/.test(given)) return undefined;
  const value = Number(given);
  return value >= range.min && value <= range.max ? value : undefined;
}

export function integer(range: { min: number; max: number }): Parser<number> {
  return single(`a whole number from ${range.min} to ${range.max}`, (given) => readInteger(given, range));
}

export function decimal(range: { min: number; max: number }): Parser<number> {
  const { min, max } = range;
  return single(`a number from ${min} to ${max}`, (given) => {
    const value = /^(0|[1-9]\d*)(\.\d+)?$/.test(given) ? Number(given) : NaN;
    return value >= min && value <= max ? value : undefined;
  });
}

export function port(range: { min: number }): Parser<number> {
  const { min } = range;
  return single(`a port from ${min} to 65535`, (given) => readInteger(given, { min, max: 65_535 }));
}

const MS_PER_HOUR = 3_600_000;
/** Timers of Node fire at once when they are set past 24.8 days, so durations that are waited for end well below. */
const DURATION_MAX_MS = 24 * MS_PER_HOUR;

/** A duration; its value is in milliseconds, and a plain number is read as milliseconds too. */
export function duration(range: { minMs: number; maxMs?: number }): Parser<number> {
  const { minMs, maxMs = DURATION_MAX_MS } = range;
  const least = minMs % 1000 === 0 ? `${minMs / 1000}s` : `${minMs}ms`;
  return single(`a duration (250ms, 30s, 5m, 1h) from ${least} to ${maxMs / MS_PER_HOUR}h`, (given) => {
    const ms = parseDuration(given);
    return ms !== undefined && ms >= minMs && ms <= maxMs ? ms : undefined;
  });
}

const BYTES_PER_UNIT: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

/** An amount of bytes; a plain number is bytes. KB is 1,000 of them, KiB is 1,024. */
export const bytes = single('an amount of bytes (256MB, 8GiB)', (given) => {
  const [, amount, unit = 'b'] = /^(\d+(?:\.\d+)?) ?([kmgt]?i?b)?$/.exec(given.toLowerCase()) ?? [];
  const unitBytes = BYTES_PER_UNIT[unit];
  if (amount === undefined || unitBytes === undefined) return undefined;
  const value = Math.round(Number(amount) * unitBytes);
  return value >= 1 && Number.isSafeInteger(value) ? value : undefined;
});

export const yesOrNo = single('true or false', (given) =>
  given === 'true' ? true : given === 'false' ? false : undefined,
);

/** An address with its port, and no name: names can be made to point anywhere. */
export const ipAndPort = single('an IP address with its port, such as 127.0.0.1:8080', (given) => {
  const [, bracketed, plain = '', portText = ''] = /^(?:\[([^\]]+)\]|([\d.]+)):(\d+)$/.exec(given) ?? [];
  const fits = bracketed === undefined ? isIPv4(plain) : isIPv6(bracketed);
  return fits && readInteger(portText, { min: 1, max: 65_535 }) !== undefined ? given : undefined;
});

export function choice<const T extends string | number>(...options: readonly T[]): Parser<T> {
  const allowed = options.join(', ').replace(/, (?=[^,]*$)/, ' or ');
  return single(allowed, (given) => options.find((option) => String(option) === given));
}

function isHost(given: string): boolean {
  if (isIP(given) !== 0) return true;
  // What is made of digits and dots only was meant as an address, and a wrong one is no host name.
  if (/^[\d.]+$/.test(given) || given.length > 253) return false;
  return given.split('.').every((label) => /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?$/i.test(label));
}

export const host = single('a host name or an IP address', (given) => (isHost(given) ? given : undefined));

/** A password in a URL ends up in logs and process lists, so the user part is refused. */
export const httpUrl = single('a URL of http or https, without user and password', (given) => {
  if (!URL.canParse(given)) return undefined;
  const { protocol, username, password } = new URL(given);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === ''
    ? given
    : undefined;
});

/** Of an API: over the network, or a socket on this machine. */
export const apiAddress = single('a URL of http or https, or unix:// with the path of a socket', (given) => {
  if (/^unix:\/\/\/\S+$/.test(given)) return given;
  const parsed = httpUrl.parse(given);
  return parsed.ok ? parsed.value : undefined;
});

/** Several values: a YAML list, a repeated flag, or one text with commas. */
export function list<T>(item: Parser<T>, allowed: string): Parser<readonly T[]> {
  return {
    allowed,
    secret: false,
    parse(raw) {
      const values: T[] = [];
      for (const part of (typeof raw === 'string' ? [raw] : raw).flatMap((each) => each.split(','))) {
        const parsed = item.parse(part.trim());
        if (!parsed.ok) return REFUSED;
        values.push(parsed.value);
      }
      return values.length === 0 ? REFUSED : ok(values);
    },
  };
}

const server = single('the address of a server', (given) => {
  const [, bracketed, plain, portText] =
    /^(?:(?:nats|tls):\/\/)?(?:\[([^\]]+)\]|([^:/[\]]+))(?::(\d+))?\/?$/.exec(given) ?? [];
  const hostFits = bracketed === undefined ? plain !== undefined && isHost(plain) : isIPv6(bracketed);
  const portFits = portText === undefined || readInteger(portText, { min: 1, max: 65_535 }) !== undefined;
  return hostFits && portFits ? given : undefined;
});

const serverList = list(server, 'one or more of nats://host:port or tls://host:port, separated by commas');

/** NATS servers. A password in a URL ends up in logs and process lists, so the user part is refused. */
export const servers: Parser<readonly string[]> = {
  ...serverList,
  parse(raw) {
    // Looked for before the split: a password may itself hold a comma.
    if ((typeof raw === 'string' ? raw : raw.join(',')).includes('@'))
      return {
        ok: false,
        problem: 'must not hold a user, password or token; use nats.user and nats.password, or nats.token',
      };
    return serverList.parse(raw);
  },
};

/** The value itself, after a reference to it has been followed. */
export const secret: Parser<Secret> = {
  allowed: 'a reference, env:NAME or file:/path; in its environment variable also the value itself',
  secret: true,
  parse: (raw) => (typeof raw === 'string' && raw !== '' ? ok(new Secret(raw)) : REFUSED),
};
