/** A sink as flags or a file describe it, word by word. All that is wrong is told at once. */
import { SINK_TYPES, type SinkSpec } from '../domain/sink.ts';
import { Secret } from '../domain/secret.ts';
import { pickNearest } from '../domain/nearest.ts';
import {
  bytes,
  choice,
  duration,
  integer,
  list,
  text,
  token,
  yesOrNo,
  type Parser,
  type Raw,
} from './parsers.ts';
import { followReference } from './secret-reference.ts';

const MINUTE_MS = 60_000;

const PARSERS = {
  type: choice(...SINK_TYPES),
  run: token(64),
  kind: list(text, 'one or more kinds of items, separated by commas'),
  path: text,
  gzip: yesOrNo,
  rotateSize: bytes,
  rotateEvery: duration({ minMs: 1_000, maxMs: 366 * 24 * 60 * MINUTE_MS }),
  columns: list(text, 'one or more fields of the items, separated by commas'),
  url: text,
  password: text,
  table: {
    ...text,
    allowed: 'name or schema.name, of letters, digits and "_"',
    parse: (raw: Raw) => {
      const parsed = text.parse(raw);
      return parsed.ok && !/^([A-Za-z_]\w{0,50}\.)?[A-Za-z_]\w{0,50}$/.test(parsed.value)
        ? { ok: false as const }
        : parsed;
    },
  },
  secret: text,
  batch: integer({ min: 1, max: 10_000 }),
} as const satisfies Record<string, Parser<unknown>>;

export type SinkWord = keyof typeof PARSERS;
export const SINK_WORDS = Object.keys(PARSERS) as SinkWord[];
export type SinkWords = Readonly<Partial<Record<string, Raw>>>;

const FILE_WORDS: readonly SinkWord[] = ['path', 'gzip', 'rotateSize', 'rotateEvery'];
const BY_TYPE: Readonly<Record<(typeof SINK_TYPES)[number], readonly SinkWord[]>> = {
  ndjson: FILE_WORDS,
  csv: [...FILE_WORDS, 'columns'],
  postgres: ['url', 'password', 'table'],
  webhook: ['url', 'secret', 'batch', 'path'],
  stdout: [],
};
const REQUIRED: Readonly<Record<(typeof SINK_TYPES)[number], readonly SinkWord[]>> = {
  ndjson: ['path'],
  csv: ['path'],
  postgres: ['url'],
  webhook: ['url'],
  stdout: [],
};

export interface SinkContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

export type SinkReading =
  | { readonly ok: true; readonly spec: SinkSpec }
  | {
      readonly ok: false;
      readonly problems: readonly { readonly word?: string; readonly problem: string }[];
    };

export function readSinkWords(name: string, words: SinkWords, context: SinkContext): SinkReading {
  const problems: { word?: string; problem: string }[] = [];
  const values = new Map<string, unknown>();
  if (!token(64).parse(name).ok)
    problems.push({
      problem: `the name of a sink must be ${token(64).allowed}, not ${JSON.stringify(name)}`,
    });
  for (const [word, raw] of Object.entries(words)) {
    if (raw === undefined) continue;
    const parser = Object.hasOwn(PARSERS, word) ? PARSERS[word as SinkWord] : undefined;
    const parsed = parser?.parse(raw);
    if (parsed?.ok) values.set(word, parsed.value);
    else problems.push({ word, problem: parser ? problemOf(word, parser, parsed) : unknownWord(word) });
  }
  const type = values.get('type') as SinkSpec['type'] | undefined;
  if (type === undefined) {
    if (words['type'] === undefined) problems.push({ problem: `type is missing: ${SINK_TYPES.join(', ')}` });
    return { ok: false, problems };
  }
  for (const word of values.keys())
    if (!['type', 'run', 'kind', ...BY_TYPE[type]].includes(word))
      problems.push({ word, problem: `a sink of type ${type} has no ${word}` });
  for (const word of REQUIRED[type])
    if (!values.has(word) && words[word] === undefined)
      problems.push({ problem: `a sink of type ${type} needs ${word}` });
  for (const word of ['url', 'password', 'secret'] as const) {
    const given = values.get(word) as string | undefined;
    if (given === undefined || !BY_TYPE[type].includes(word)) continue;
    const secret = word === 'url' ? readUrl(given, type, context) : readSecret(given, context);
    if (typeof secret === 'string') problems.push({ word, problem: `${word} ${secret}` });
    else values.set(word, secret);
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, spec: build(name, type, values) };
}

function problemOf(word: string, parser: Parser<unknown>, parsed: { problem?: string } | undefined): string {
  return `${word} ${parsed?.problem ?? `must be ${parser.allowed}`}`;
}

function unknownWord(word: string): string {
  const nearest = pickNearest(word, SINK_WORDS);
  return `a sink has no ${word}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}

/** The secret, or what is wrong with it. */
function readSecret(given: string, { env, cwd }: SinkContext): Secret | string {
  const followed = followReference(given, {
    env,
    cwd,
    literalAllowed: false,
    variable: 'an environment variable',
  });
  if (followed.ok) return new Secret(followed.value);
  return /^(env|file):/.test(given)
    ? (followed.problem ?? 'cannot be read')
    : 'is a secret, which must not be written here; write env:NAME or file:/path';
}

const SCHEMES = { postgres: ['postgres:', 'postgresql:'], webhook: ['http:', 'https:'] };

/** An address with a password in it is a secret; one without may stand where everybody reads it. */
function readUrl(given: string, type: SinkSpec['type'], context: SinkContext): Secret | string {
  const reference = /^(env|file):/.test(given);
  const followed = reference ? readSecret(given, context) : new Secret(given);
  if (typeof followed === 'string') return followed;
  const schemes = type === 'postgres' ? SCHEMES.postgres : SCHEMES.webhook;
  const url = URL.canParse(followed.reveal()) ? new URL(followed.reveal()) : undefined;
  if (!url || !schemes.includes(url.protocol)) return `must be a URL of ${schemes.join(' or ')}//`;
  if (type === 'webhook' && (url.username !== '' || url.password !== ''))
    return 'must not hold a user and password';
  if (!reference && url.password !== '')
    return 'holds a password, which must not be written here; use password, or write env:NAME or file:/path';
  return followed;
}

const DEFAULTS = {
  rotateSize: 256 * 1024 * 1024,
  table: 'trawl_items',
  batch: 500,
  path: '.',
};

/** What the parsers above make of the words. */
interface Values {
  readonly run?: string;
  readonly kind?: readonly string[];
  readonly path?: string;
  readonly gzip?: boolean;
  readonly rotateSize?: number;
  readonly rotateEvery?: number;
  readonly columns?: readonly string[];
  readonly url?: Secret;
  readonly password?: Secret;
  readonly table?: string;
  readonly secret?: Secret;
  readonly batch?: number;
}

function build(name: string, type: SinkSpec['type'], values: ReadonlyMap<string, unknown>): SinkSpec {
  const given = Object.fromEntries(values) as Values;
  const {
    path = DEFAULTS.path,
    url = new Secret(''),
    table = DEFAULTS.table,
    batch = DEFAULTS.batch,
  } = given;
  const common = { name, run: given.run, kinds: given.kind };
  switch (type) {
    case 'ndjson':
    case 'csv': {
      const { gzip = false, rotateSize: rotateBytes = DEFAULTS.rotateSize, rotateEvery, columns } = given;
      return { ...common, type, path, gzip, rotateBytes, rotateMs: rotateEvery, columns };
    }
    case 'postgres':
      return { ...common, type, url, password: given.password, table };
    case 'webhook':
      return { ...common, type, url, secret: given.secret, batch, path };
    case 'stdout':
      return { ...common, type };
  }
}
