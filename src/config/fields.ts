/**
 * Every setting of Trawl, once. The type of the configuration, the flags, the environment variables,
 * the README's table and config/trawl.yaml derive from this table.
 * The path of a setting is its key in the file; durations are numbers of milliseconds in `Config`.
 */
import { field, optional, type Field } from './field.ts';
import { bytes, choice, duration, host, integer, port, secret, servers, text, token } from './parsers.ts';

export const fields = {
  home: field(text, '.trawl', 'Folder of the local cluster: server data, logs, state'),
  namespace: field(
    token(32),
    'trawl',
    'First token of every subject; two namespaces on one NATS do not see each other',
  ),
  durability: field(
    choice('always', 'interval'),
    'always',
    'When a write counts as stored: `always`, once the server has synced it to disk (writes go in atomic batches), or `interval`, at once (a power cut may lose the last moments)',
  ),
  nats: {
    url: field(servers, 'nats://127.0.0.1:4222', 'The servers of NATS', { envAlias: 'NATS_URL' }),
    user: optional(text, 'User name at NATS'),
    password: optional(secret, 'Password of that user'),
    token: optional(secret, 'Token, where the servers ask for one instead of a user'),
    creds: optional(text, 'Path of a credentials file (JWT and seed)'),
    nkey: optional(secret, 'Seed of an nkey'),
    tlsCa: optional(text, 'Path of the certificate authority that signed the certificates of the servers'),
    tlsCert: optional(text, 'Path of our own certificate, where the servers ask for one'),
    tlsKey: optional(text, 'Path of the key of that certificate'),
    replicas: field(integer({ min: 1, max: 5 }), '1', 'Copies that NATS keeps of every stream and bucket'),
  },
  actor: {
    id: optional(
      token(64),
      'Name of this actor in the cluster; unset: made from host, pid and a random part',
      {
        flag: 'id',
        envAlias: 'WORKER_ID',
      },
    ),
    grace: field(
      duration({ minMs: 0 }),
      '30s',
      'How long a stopping actor may finish its work before it is aborted',
    ),
  },
  heartbeat: {
    interval: field(duration({ minMs: 100 }), '30s', 'How often an actor says that it is alive'),
    deadAfter: field(
      duration({ minMs: 200 }),
      '120s',
      'Silence after which an actor counts as dead; at least twice the interval',
    ),
  },
  leader: {
    ttl: field(
      duration({ minMs: 1000 }),
      '3s',
      'How long a leader that no longer answers keeps its place; the next one takes over after it',
    ),
  },
  http: {
    host: field(host, '127.0.0.1', 'Address on which the HTTP pages listen'),
    port: field(port({ min: 0 }), '8080', "Port of the exporter's page; 0: any free port"),
    actorPort: field(
      port({ min: 0 }),
      '0',
      'Port of the health and metrics page of every other actor; 0: any free port, shown by `trawl status`',
    ),
  },
  log: {
    level: field(
      choice('debug', 'info', 'warn', 'error'),
      'info',
      'The least important lines that are written',
    ),
    format: field(
      choice('auto', 'json', 'text'),
      'auto',
      'Form of the lines; auto: text on a terminal, JSON lines in a pipe',
    ),
  },
  publisher: {
    window: field(integer({ min: 1, max: 65_536 }), '4096', 'Unacknowledged publishes at once'),
    batch: field(integer({ min: 1, max: 1000 }), '500', 'Messages in one atomic batch'),
    ackTimeout: field(duration({ minMs: 1 }), '5s', 'How long a publish waits for its acknowledgement'),
  },
  worker: {
    concurrency: field(integer({ min: 1, max: 1_000 }), '3', 'Tasks that a worker runs at once', {
      flag: 'concurrency',
    }),
    scrapers: field(text, 'config/scrapers', 'Folder of the scrapers that a worker loads', {
      flag: 'scrapers',
    }),
    prefetch: field(
      integer({ min: 1, max: 10_000 }),
      '1000',
      'Tasks of one priority that a worker may hold before it starts them; slow tasks are held in smaller numbers',
      { flag: 'batch-size' },
    ),
  },
  tasks: {
    timeout: field(duration({ minMs: 1 }), '1h', 'Hard limit of one attempt, where the scraper sets none'),
    retries: field(
      integer({ min: 0, max: 19 }),
      '3',
      'Attempts after the first one, where the scraper sets none; then the task is dead',
    ),
    retryBase: field(duration({ minMs: 1 }), '60s', 'Wait before the second attempt; doubles each time'),
    retryMax: field(duration({ minMs: 1 }), '1h', 'Longest wait between two attempts'),
    watermark: field(
      integer({ min: 1, max: 100_000_000 }),
      '2000000',
      'Tasks in the queue beyond which nothing more is taken in from submissions',
    ),
  },
  runs: {
    maxActivePerScraper: field(
      integer({ min: 1, max: 1_000 }),
      '1',
      'Runs of one scraper that are worked on at once',
    ),
    maxActive: field(integer({ min: 1, max: 10_000 }), '100', 'Runs that are worked on at once'),
    keep: field(
      duration({ minMs: 1000, maxMs: 366 * 24 * 3_600_000 }),
      '720h',
      'Runs that ended longer ago are removed, with their results',
    ),
    idleEnd: field(
      duration({ minMs: 100 }),
      '30s',
      'A run that was never sealed ends when everything is settled and nothing was submitted for so long',
    ),
  },
  lock: {
    ttl: field(
      duration({ minMs: 1000 }),
      '300s',
      'How long a lock outlives a holder that no longer renews it',
    ),
  },
  local: {
    workers: field(integer({ min: 0, max: 1000 }), '3', 'Workers of the local cluster', {
      flag: 'workers',
      envAlias: 'WORKERS',
    }),
    nodes: field(choice(1, 3), '1', 'NATS servers of the local cluster', {
      flag: 'nodes',
      envAlias: 'NODES',
    }),
    portBase: field(
      port({ min: 1 }),
      '4222',
      'Port of the first local NATS server; every other port of the local cluster moves with it',
      { flag: 'port-base' },
    ),
    maxStore: field(bytes, '8GiB', 'Disk space that a local NATS server may fill (its max_file_store)'),
    restartBackoffMax: field(
      duration({ minMs: 1 }),
      '30s',
      'Longest wait before a local process that keeps failing is started again',
    ),
  },
} as const;

type Fields = typeof fields;
type ValueOf<F> = F extends Field<infer T> ? T : never;

export type Config = {
  readonly [S in keyof Fields]: Fields[S] extends Field<infer T>
    ? T
    : { readonly [K in keyof Fields[S]]: ValueOf<Fields[S][K]> };
};

/** The settings at the top of the file belong to no section; where a section is named, theirs is `general`. */
export type SectionName =
  'general' | { [S in keyof Fields]: Fields[S] extends Field<unknown> ? never : S }[keyof Fields];

export type FieldPath = {
  [S in keyof Fields]: Fields[S] extends Field<unknown> ? S : `${S}.${keyof Fields[S] & string}`;
}[keyof Fields];
