/**
 * Every setting of Trawl, once. The type of the configuration, the flags, the environment variables,
 * the README's table and config/trawl.yaml derive from this table.
 * The path of a setting is its key in the file; durations are numbers of milliseconds in `Config`.
 */
import { field, optional, type Field } from './field.ts';
import { SELECTIONS, VIAS, WHEN_NONE } from '../domain/egress.ts';
import { SCALE_DRIVERS, SCALE_POLICIES, SCALE_SOURCES } from '../domain/scale.ts';
import {
  apiAddress,
  bytes,
  choice,
  decimal,
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
const PER_CENT = { min: 1, max: 100 };

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
    url: field(servers, 'nats://127.0.0.1:4222', 'The servers of NATS', {
      flagAlias: 'nats',
      envAlias: 'NATS_URL',
    }),
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
  metrics: {
    fresh: field(
      duration({ minMs: 0, maxMs: 60_000 }),
      '1s',
      'How old what the exporter knows may be when somebody asks: one look at the cluster answers all who ask within that time',
    ),
    hosts: field(
      integer({ min: 1, max: 1_000 }),
      '20',
      "Hosts that have series of their own on the exporter's page: the busiest ones; all others are counted as `other`",
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
    batch: field(integer({ min: 1, max: 1000 }), '800', 'Messages in one atomic batch'),
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
    adaptive: field(
      yesOrNo,
      'true',
      'Whether a worker runs fewer tasks at once while memory, CPU or its event loop is short (see `guard`)',
    ),
  },
  guard: {
    cpu: field(
      integer(PER_CENT),
      '80',
      'Per cent of the CPU time of all cores that may be used beyond which there is too much to do',
    ),
    memory: field(
      integer(PER_CENT),
      '85',
      'Per cent of the memory, of the container or of the machine, beyond which there is too little left',
    ),
    disk: field(integer(PER_CENT), '90', 'Per cent of the disk beyond which no further worker is started'),
    load: field(
      decimal({ min: 0.1, max: 10_000 }),
      '4.0',
      'Load average of a minute beyond which no further worker is started',
    ),
    loopLag: field(
      duration({ minMs: 1 }),
      '100ms',
      'Mean delay of its event loop beyond which a worker has too much to do',
    ),
    interval: field(
      duration({ minMs: 20 }),
      '5s',
      'How often a worker looks at all this; it runs fewer tasks after several bad readings in a row',
    ),
    memoryPerWorker: field(bytes, '512MB', 'Memory that must be free for each further worker'),
    coresPerWorker: field(
      decimal({ min: 0.01, max: 1_000 }),
      '0.25',
      'Cores for each worker that is started by itself; one worker always fits. Workers mostly wait, so what they really use is measured',
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
  autoscale: {
    policy: field(
      choice(...SCALE_POLICIES),
      'drain_time',
      'How the number of workers follows the load: by the time that the backlog takes, by tasks for each worker between two thresholds, or one worker for so many tasks',
    ),
    driver: field(
      choice(...SCALE_DRIVERS),
      'none',
      'Who starts and ends workers: nobody (only advice), the local cluster, a command, Kubernetes or Docker Swarm. A local cluster sets process by itself',
    ),
    min: field(
      integer({ min: 0, max: 10_000 }),
      '2',
      'Workers that there always are; 0 lets the cluster go to none. In a local cluster, unless set: local.workers',
    ),
    max: field(integer({ min: 1, max: 10_000 }), '20', 'Workers that there are at most'),
    interval: field(duration({ minMs: 100 }), '30s', 'How often the number of workers is decided'),
    cooldownUp: field(
      duration({ minMs: 0 }),
      '60s',
      'Rest after workers were added, before the number changes again',
    ),
    cooldownDown: field(
      duration({ minMs: 0 }),
      '300s',
      'Rest after workers were sent away, before others are; adding is free at once',
    ),
    drainTarget: field(
      duration({ minMs: 100 }),
      '30s',
      'With drain_time, the backlog is to be done within this, at the measured pace',
    ),
    jobsUp: field(
      integer({ min: 1, max: 1_000_000 }),
      '10',
      'With jobs_per_worker: more tasks than this for each worker, and workers are added. drain_time goes by it as long as nobody knows how long a task takes',
    ),
    jobsDown: field(
      integer({ min: 1, max: 1_000_000 }),
      '2',
      'With jobs_per_worker: fewer tasks than this for each worker, and workers are sent away',
    ),
    perWorker: field(
      integer({ min: 1, max: 1_000_000_000 }),
      '1000',
      'With per_worker, one worker for so many tasks',
    ),
    staleAfter: field(
      duration({ minMs: 100 }),
      '90s',
      'Measurements older than this are none, and without any nothing is changed',
    ),
    source: field(
      choice(...SCALE_SOURCES),
      'exporter',
      'Who measures the load: the exporter of the cluster, or a Prometheus',
    ),
    prometheusUrl: optional(httpUrl, 'Where that Prometheus is'),
    prometheusLoad: field(
      text,
      'sum(max(trawl_queue_ready)by(priority))+sum(max(trawl_queue_running)by(priority))',
      'What to ask it for the number of tasks that there are to do',
    ),
    prometheusDuration: field(
      text,
      'sum(rate(trawl_task_duration_seconds_sum[5m]))/sum(rate(trawl_task_duration_seconds_count[5m]))',
      'What to ask it for the seconds that a task takes',
    ),
    command: optional(
      text,
      'What a shell runs to change the number of workers; {from}, {to} and {ids} (those that were drained) stand for themselves',
    ),
    target: optional(text, 'Name of the Deployment (kubernetes) or of the service (swarm)'),
    namespace: field(token(63), 'default', 'Namespace of the Deployment (kubernetes)'),
    apiUrl: optional(
      apiAddress,
      'Address of the API, if not https://kubernetes.default.svc (kubernetes) or unix:///var/run/docker.sock (swarm)',
    ),
    tokenFile: optional(
      text,
      'File with the token of the API, read anew each time (kubernetes); unset: that of the service account',
    ),
    caFile: optional(
      text,
      'File with the authority that signed the certificate of the API (kubernetes, swarm)',
    ),
    drainWait: field(
      duration({ minMs: 0 }),
      '60s',
      'How long workers may finish their tasks before the platform is told to end them (command, kubernetes, swarm)',
    ),
  },
  advise: {
    samples: field(
      integer({ min: 1, max: 1_000 }),
      '5',
      'Measurements without which `trawl advise` says nothing',
    ),
    backlog: field(
      integer({ min: 1, max: 1_000_000 }),
      '10',
      'More tasks than this for each worker, and more workers are advised',
    ),
    perWorker: field(integer({ min: 1, max: 1_000_000 }), '8', 'So many tasks for each of them'),
    errors: field(
      integer(PER_CENT),
      '10',
      'Per cent of the attempts beyond which somebody should look into it',
    ),
    idleRate: field(
      decimal({ min: 0, max: 1_000_000 }),
      '0.1',
      'Fewer tasks a second than this, and fewer workers are advised',
    ),
    keep: field(integer(PER_CENT), '70', 'Per cent of the workers that stay then'),
    workersMin: field(integer({ min: 0, max: 10_000 }), '2', 'Workers that stay in any case'),
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
    workersPerMachine: field(
      integer({ min: 0, max: 1000 }),
      '0',
      'Workers that the local cluster runs on this machine at most, however many are wanted; 0: no limit',
    ),
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
