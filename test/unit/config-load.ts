import t from 'tap';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settings } from '../../src/config/catalogue.ts';
import { describeConfig, loadConfig } from '../../src/config/load.ts';
import type { LoadOptions } from '../../src/config/gather.ts';
import type { Config } from '../../src/config/fields.ts';
import { Failure } from '../../src/domain/failure.ts';

const folder = mkdtempSync(join(tmpdir(), 'trawl-config-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const empty = join(folder, 'empty');
mkdirSync(empty);

function load(options: Partial<LoadOptions> = {}) {
  return loadConfig({ flags: {}, env: {}, cwd: empty, ...options });
}

/** A folder with the given text as its config/trawl.yaml. */
function folderWith(yaml: string): string {
  const cwd = mkdtempSync(join(folder, 'case-'));
  mkdirSync(join(cwd, 'config'));
  writeFileSync(join(cwd, 'config/trawl.yaml'), yaml);
  return cwd;
}

function failureOf(options: Partial<LoadOptions>): Failure {
  try {
    load(options);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

function problemsOf(options: Partial<LoadOptions>): readonly string[] {
  const failure = failureOf(options);
  return failure.message
    .split('\n')
    .slice(1)
    .map((line) => line.trim());
}

t.test('nothing given: the defaults', async (t) => {
  const { config } = load();
  // The annotations hold the derived types to what the rest of the program relies on.
  const nodes: 1 | 3 = config.local.nodes;
  const durability: 'always' | 'interval' = config.durability;
  const urls: readonly string[] = config.nats.url;
  const id: string | undefined = config.actor.id;
  t.equal(nodes, 1);
  t.equal(durability, 'always');
  t.same(urls, ['nats://127.0.0.1:4222']);
  t.equal(id, undefined);
  t.same(config, {
    home: '.trawl',
    namespace: 'trawl',
    durability: 'always',
    registry: 'config/scrapers.yaml',
    nats: {
      url: ['nats://127.0.0.1:4222'],
      user: undefined,
      password: undefined,
      token: undefined,
      creds: undefined,
      nkey: undefined,
      tlsCa: undefined,
      tlsCert: undefined,
      tlsKey: undefined,
      replicas: 1,
    },
    actor: { id: undefined, grace: 30_000 },
    heartbeat: { interval: 30_000, deadAfter: 120_000 },
    leader: { ttl: 3000 },
    http: { host: '127.0.0.1', port: 8080, actorPort: 0 },
    metrics: { fresh: 1000, hosts: 20 },
    log: { level: 'info', format: 'auto' },
    publisher: { window: 4096, batch: 800, ackTimeout: 5000 },
    worker: { concurrency: 3, scrapers: ['config/scrapers'], prefetch: 1_000, adaptive: true },
    guard: {
      cpu: 80,
      memory: 85,
      disk: 90,
      load: 4,
      loopLag: 100,
      interval: 5_000,
      memoryPerWorker: 512_000_000,
      coresPerWorker: 0.25,
    },
    tasks: { timeout: 3_600_000, retries: 3, retryBase: 60_000, retryMax: 3_600_000, watermark: 2_000_000 },
    runs: { maxActivePerScraper: 1, maxActive: 100, keep: 2_592_000_000, idleEnd: 30_000 },
    egress: {
      perHour: 50,
      perMinute: 0,
      hostDelay: 0,
      hostEgressDelay: 0,
      hostConcurrency: 0,
      jitter: 50,
      hostsFile: undefined,
      maxPerWorker: 0,
      leaseTtl: 60_000,
      selection: 'lru',
      via: 'auto',
      whenNone: 'wait',
      probeUrl: undefined,
      probeInterval: 300_000,
      probeTimeout: 10_000,
      probeStatus: 200,
      retryAfterMax: 3_600_000,
      key: undefined,
    },
    fetch: {
      connectTimeout: 10_000,
      headersTimeout: 30_000,
      bodyTimeout: 300_000,
      timeout: 300_000,
      maxBytes: 20_000_000,
      maxRedirects: 10,
      poolsMax: 256,
      connectionsMax: 50,
      http2: false,
      robots: true,
      userAgent: 'trawl',
      profile: 'plain',
      allowLoopback: undefined,
    },
    browser: { path: undefined, pages: 4, idle: 60_000, sandbox: true },
    autoscale: {
      policy: 'drain_time',
      driver: 'none',
      min: 2,
      max: 20,
      interval: 30_000,
      cooldownUp: 60_000,
      cooldownDown: 300_000,
      drainTarget: 30_000,
      jobsUp: 10,
      jobsDown: 2,
      perWorker: 1_000,
      staleAfter: 90_000,
      source: 'exporter',
      prometheusUrl: undefined,
      prometheusLoad: 'sum(max(trawl_queue_ready)by(priority))+sum(max(trawl_queue_running)by(priority))',
      prometheusDuration:
        'sum(rate(trawl_task_duration_seconds_sum[5m]))/sum(rate(trawl_task_duration_seconds_count[5m]))',
      command: undefined,
      target: undefined,
      namespace: 'default',
      apiUrl: undefined,
      tokenFile: undefined,
      caFile: undefined,
      drainWait: 60_000,
    },
    advise: { samples: 5, backlog: 10, perWorker: 8, errors: 10, idleRate: 0.1, keep: 70, workersMin: 2 },
    sinks: { file: undefined },
    lock: { ttl: 300_000 },
    local: {
      workers: 3,
      workersPerMachine: 0,
      nodes: 1,
      portBase: 4222,
      maxStore: 8 * 2 ** 30,
      restartBackoffMax: 30_000,
    },
  } satisfies Config);
});

t.test('the configuration is frozen all the way down', async (t) => {
  const { config } = load({ env: { TRAWL_NATS_PASSWORD: 'x', TRAWL_NATS_USER: 'u' } });
  t.ok(Object.isFrozen(config));
  for (const section of Object.values(config)) t.ok(Object.isFrozen(section));
  t.ok(Object.isFrozen(config.nats.url));
  t.throws(() => Object.assign(config.nats, { user: 'other' }), TypeError);
});

t.test('flag beats environment beats file beats local cluster beats default', async (t) => {
  const cwd = folderWith('namespace: from-file\n');
  const localDefaults = { namespace: 'from-local' };
  const env = { TRAWL_NAMESPACE: 'from-env' };
  const flags = { namespace: 'from-flag' };
  t.equal(load().config.namespace, 'trawl');
  t.equal(load({ localDefaults }).config.namespace, 'from-local');
  t.equal(load({ localDefaults, cwd }).config.namespace, 'from-file');
  t.equal(load({ localDefaults, cwd, env }).config.namespace, 'from-env');
  t.equal(load({ localDefaults, cwd, env, flags }).config.namespace, 'from-flag');
});

t.test('only the value that wins has to be right', async (t) => {
  const cwd = folderWith('http:\n  port: none\n');
  t.equal(load({ cwd, env: { TRAWL_HTTP_PORT: '81' } }).config.http.port, 81);
});

t.test('variables: aliases, the own name first, empty is unset, spaces around are dropped', async (t) => {
  t.same(load({ env: { NATS_URL: 'nats://a:1' } }).config.nats.url, ['nats://a:1']);
  t.same(load({ env: { NATS_URL: 'nats://a:1', TRAWL_NATS_URL: 'nats://b:2' } }).config.nats.url, [
    'nats://b:2',
  ]);
  t.same(load({ env: { NATS_URL: 'nats://a:1', TRAWL_NATS_URL: '' } }).config.nats.url, ['nats://a:1']);
  const { config } = load({
    env: { WORKER_ID: 'w-1', WORKERS: '7', NODES: '3', TRAWL_LOG_LEVEL: ' warn\r' },
  });
  t.equal(config.actor.id, 'w-1');
  t.equal(config.local.workers, 7);
  t.equal(config.local.nodes, 3);
  t.equal(config.log.level, 'warn');
});

/** Of settings that have no default and take not just any text. */
const EXAMPLES: Readonly<Record<string, string>> = {
  'egress.probeUrl': 'https://probe.example/ping',
  'fetch.allowLoopback': '127.0.0.1:8080',
  'autoscale.prometheusUrl': 'http://127.0.0.1:9090',
  'autoscale.apiUrl': 'unix:///var/run/docker.sock',
};

t.test('every setting can be given by its variable, its flag and the file', async (t) => {
  for (const { path, env, field } of settings) {
    const raw = field.default ?? EXAMPLES[path] ?? (field.parser.secret ? 'env:GIVEN' : 'x');
    // What a rule demands beside it.
    const beside = {
      'nats.password': { 'nats.user': 'u' },
      'nats.tlsCert': { 'nats.tlsKey': 'k' },
      'nats.tlsKey': { 'nats.tlsCert': 'c' },
    } as const;
    const flags = Object.entries(beside).find(([name]) => name === path)?.[1] ?? {};
    for (const name of env)
      t.equal(load({ env: { [name]: raw, GIVEN: 'x' }, flags }).sources.get(path)?.where, name);
    t.equal(load({ flags: { ...flags, [path]: raw }, env: { GIVEN: 'x' } }).sources.get(path)?.kind, 'flag');
    const [section, key] = path.split('.');
    const yaml = key === undefined ? `${path}: ${raw}` : `${section ?? ''}:\n  ${key}: ${raw}`;
    t.equal(
      load({ cwd: folderWith(yaml), env: { GIVEN: 'x' }, flags }).sources.get(path)?.kind,
      'file',
      path,
    );
  }
});

t.test(
  'unknown TRAWL_ variables are errors, with the nearest name; others are nobody’s business',
  async (t) => {
    t.same(problemsOf({ env: { TRAWL_NATS_URLS: 'x', TRAWL_ZZZZZZZZZ: 'x', PATH: 'x' } }), [
      'TRAWL_NATS_URLS: there is no such setting; did you mean TRAWL_NATS_URL?',
      'TRAWL_ZZZZZZZZZ: there is no such setting',
    ]);
  },
);

t.test('the links that Kubernetes sets for a service called trawl are not settings', async (t) => {
  const { config } = load({
    env: {
      TRAWL_SERVICE_HOST: '10.0.0.1',
      TRAWL_SERVICE_PORT: '80',
      TRAWL_SERVICE_PORT_HTTP: '80',
      TRAWL_PORT: 'tcp://10.0.0.1:80',
      TRAWL_PORT_80_TCP: 'tcp://10.0.0.1:80',
      TRAWL_PORT_80_TCP_ADDR: '10.0.0.1',
      TRAWL_HTTP_PORT: 'tcp://10.0.0.1:80',
    },
  });
  t.equal(config.http.port, 8080);
  t.same(
    problemsOf({ env: { TRAWL_NATS_PORT: '4222' } }).length,
    1,
    'a port that a person meant is not skipped',
  );
});

t.test('all problems in one report, each with its place, what was given and what is allowed', async (t) => {
  const cwd = folderWith('nats:\n  urll: nats://a\n  replicas: 9\nlog:\n  level: loud\n');
  const failure = failureOf({
    cwd,
    flags: { 'http.port': 'abc', home: '' },
    env: { TRAWL_LOCAL_NODES: '2', TRAWL_LEADER_TTL: '10ms', TRAWL_TYPO: '1' },
  });
  t.equal(failure.code, 'INVALID');
  t.match(failure.hint, 'config/trawl.yaml');
  t.same(failure.message.split('\n'), [
    'The configuration has 8 problems:',
    '  config/trawl.yaml:2:3: nats.urll is not a setting; did you mean nats.url?',
    '  TRAWL_TYPO: there is no such setting',
    '  --home: home must be one line of text, not ""',
    '  config/trawl.yaml:3:13: nats.replicas must be a whole number from 1 to 5, not "9"',
    '  TRAWL_LEADER_TTL: leader.ttl must be a duration (250ms, 30s, 5m, 1h) from 1s to 24h, not "10ms"',
    '  --http-port: http.port must be a port from 0 to 65535, not "abc"',
    '  config/trawl.yaml:5:10: log.level must be debug, info, warn or error, not "loud"',
    '  TRAWL_LOCAL_NODES: local.nodes must be 1 or 3, not "2"',
  ]);
});

t.test('a long wrong value is cut, and one with control characters is not shown', async (t) => {
  const [long = ''] = problemsOf({ flags: { namespace: 'é'.repeat(5000) } });
  t.ok(long.length < 200);
  const [odd = ''] = problemsOf({ flags: { home: 'a\u001b[31m' } });
  t.notMatch(odd, '\u001b');
});

t.test('a flag given twice is refused where one value is wanted', async (t) => {
  t.same(problemsOf({ flags: { home: ['a', 'b'] } }), ['--home: home takes one value, not 2']);
  t.same(load({ flags: { 'nats.url': ['a', 'b'] } }).config.nats.url, ['a', 'b']);
});

t.test('every value knows where it came from', async (t) => {
  const cwd = folderWith('heartbeat:\n  interval: 10s\n');
  const loaded = load({
    cwd,
    flags: { 'nats.url': ['nats://a', 'nats://b'] },
    env: { WORKER_ID: 'w1', TRAWL_NATS_TOKEN: 'canary-word' },
    localDefaults: { 'local.portBase': '5000' },
  });
  t.equal(loaded.sources.get('heartbeat.interval')?.kind, 'file');
  const rows = describeConfig(loaded);
  t.same(
    rows.map((row) => row.path),
    settings.map((setting) => setting.path),
  );
  const shown = new Map(rows.map(({ path, value, source }) => [path, [value, source.where]]));
  t.same(shown.get('nats.url'), ['nats://a,nats://b', '--nats-url']);
  t.same(shown.get('actor.id'), ['w1', 'WORKER_ID']);
  t.same(shown.get('nats.token'), ['[redacted]', 'TRAWL_NATS_TOKEN']);
  t.same(shown.get('heartbeat.interval'), ['10s', 'config/trawl.yaml:2:13']);
  t.same(shown.get('local.portBase'), ['5000', 'local cluster']);
  t.same(shown.get('leader.ttl'), ['3s', 'default']);
  t.same(shown.get('nats.user'), ['', 'default']);
  t.same(rows[0], { path: 'home', value: '.trawl', source: { kind: 'default', where: 'default' } });
  t.notMatch(JSON.stringify(rows), 'canary-word');
});
