/**
 * Every setting of Trawl, once. The type of the configuration, the flags, the environment variables,
 * the README's table and config/trawl.yaml derive from this table.
 * The path of a setting is its key in the file; durations are numbers of milliseconds in `Config`.
 */
import { field, optional, type Field } from './field.ts';
import { SELECTIONS, VIAS, WHEN_NONE } from '../domain/egress.ts';
import {
  bytes,
  choice,
  duration,
  host,
  httpUrl,
  integer,
  ipAndPort,
  list,
  port,
  secret,
  servers,
  text,
  token,
  yesOrNo,
} from './parsers.ts';

const AMOUNT = { min: 0, max: 1_000_000_000 };

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
  registry: field(
    text,
    'config/scrapers.yaml',
    'File that says of each scraper whether its runs take place in the process of `trawl run` or on the cluster; config/examples/countries/registry.yaml shows how. It may be absent',
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
    scrapers: field(
      list(text, 'one or more folders, files or packages, separated by commas'),
      'config/scrapers',
      'Where the scrapers are: folders, files or packages, separated by commas; workers run them, and coordinators check by them what is submitted',
      { flag: 'scrapers' },
    ),
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
  egress: {
    perHour: field(integer(AMOUNT), '50', 'Requests through one proxy within an hour; 0: no limit'),
    perMinute: field(integer(AMOUNT), '0', 'Requests through one proxy within a minute; 0: no limit'),
    hostDelay: field(
      duration({ minMs: 0 }),
      '0s',
      'Between the starts of two requests to one host, whoever sends them, where no rule of egress.hostsFile says otherwise',
    ),
    hostEgressDelay: field(
      duration({ minMs: 0 }),
      '0s',
      'Between two requests to one host through the same proxy',
    ),
    hostConcurrency: field(
      integer({ min: 0, max: 100_000 }),
      '0',
      'Requests to one host at once, of all workers together; 0: no limit',
    ),
    jitter: field(
      integer({ min: 0, max: 1_000 }),
      '50',
      'Every delay is stretched by a random part of itself, up to so many per cent',
    ),
    hostsFile: optional(text, 'Path of a YAML file with limits of single hosts; config/hosts.yaml shows how'),
    maxPerWorker: field(
      integer({ min: 0, max: 1_000_000 }),
      '0',
      'Different proxies that one worker may hold; 0: no limit',
    ),
    leaseTtl: field(
      duration({ minMs: 1_000, maxMs: 3_600_000 }),
      '60s',
      'How long what a worker holds of something scarce outlives that worker',
    ),
    selection: field(
      choice(...SELECTIONS),
      'lru',
      'Which proxy comes next, where the scraper does not say: the one unused for longest, any, by weight and success, or the same again',
    ),
    via: field(
      choice(...VIAS),
      'auto',
      'How requests leave, where the scraper does not say; auto: through a proxy as soon as there is one',
    ),
    whenNone: field(
      choice(...WHEN_NONE),
      'wait',
      'What a task does when no proxy is free, where the scraper does not say: wait, go directly, or fail',
    ),
    probeUrl: optional(httpUrl, 'What health probes of proxies ask for; unset: no probes'),
    probeInterval: field(duration({ minMs: 1_000 }), '300s', 'How often every proxy is probed'),
    probeTimeout: field(duration({ minMs: 1 }), '10s', 'How long a probe waits for its answer'),
    probeStatus: field(integer({ min: 100, max: 599 }), '200', 'The status with which a probe passes'),
    retryAfterMax: field(
      duration({ minMs: 1_000 }),
      '1h',
      'The longest rest that a host gets when it asks for one with Retry-After',
    ),
    key: optional(
      secret,
      'Key with which credentials of proxies and sessions are sealed before they go to NATS; the same for all proxy-managers and workers. Unset: NATS sees them',
    ),
  },
  fetch: {
    connectTimeout: field(
      duration({ minMs: 1 }),
      '10s',
      'How long a connection may take, through the proxy and with TLS',
    ),
    headersTimeout: field(duration({ minMs: 1 }), '30s', 'How long a site may take to begin its answer'),
    bodyTimeout: field(duration({ minMs: 1 }), '300s', 'How long a site may be silent within its answer'),
    timeout: field(duration({ minMs: 1 }), '300s', 'How long a page may take from beginning to end'),
    maxBytes: field(bytes, '20MB', 'Largest body that is read, after decompression'),
    maxRedirects: field(
      integer({ min: 0, max: 100 }),
      '10',
      'Redirects that are followed; 0: a redirect is an answer',
    ),
    poolsMax: field(
      integer({ min: 1, max: 100_000 }),
      '256',
      'Pools of connections that a worker keeps, one per site and egress; idle ones beyond that are closed',
    ),
    connectionsMax: field(
      integer({ min: 0, max: 10_000 }),
      '50',
      'Connections of a worker to one site through one egress; 0: no limit',
    ),
    http2: field(yesOrNo, 'false', 'Whether HTTP/2 is spoken with sites that offer it'),
    robots: field(yesOrNo, 'true', 'Whether robots.txt is obeyed, where the scraper does not say'),
    userAgent: field(
      text,
      'trawl',
      'Who we are: to robots.txt, and to the site where no profile of a browser is used',
    ),
    profile: field(
      token(40),
      'plain',
      'The headers that are sent: plain, or those of a browser (chrome-windows, chrome-mac, edge-windows, firefox-windows, firefox-linux, safari-mac)',
    ),
    allowLoopback: optional(
      list(ipAndPort, 'one or more of ip:port, separated by commas'),
      'Addresses that may be fetched although they are not on the public internet, each with its port',
    ),
  },
  browser: {
    path: optional(text, 'Where Chromium is, for scrapers that want a browser; unset: where systems put it'),
    pages: field(integer({ min: 1, max: 1_000 }), '4', 'Pages that the browser of a worker has open at once'),
    idle: field(duration({ minMs: 1 }), '60s', 'How long a browser without a page is kept'),
    sandbox: field(
      yesOrNo,
      'true',
      'Whether Chromium keeps pages in its sandbox; it cannot as root, nor in most containers',
    ),
  },
  sinks: {
    file: optional(text, 'Path of a YAML file of sinks; config/sinks.yaml shows how'),
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
