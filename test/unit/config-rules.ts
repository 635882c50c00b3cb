import t from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import type { LoadOptions } from '../../src/config/gather.ts';
import { Failure } from '../../src/domain/failure.ts';

/** The folder of this test holds no file of settings. */
function load(options: Partial<LoadOptions>) {
  return loadConfig({ flags: {}, env: {}, cwd: import.meta.dirname, ...options });
}

function problemsOf(options: Partial<LoadOptions>): readonly string[] {
  try {
    load(options);
  } catch (error) {
    if (error instanceof Failure)
      return error.message
        .split('\n')
        .slice(1)
        .map((line) => line.trim());
    throw error;
  }
  return [];
}

t.test('rules between settings', async (t) => {
  const cases: readonly (readonly [LoadOptions['flags'], readonly string[]])[] = [
    [{ 'heartbeat.interval': '1s', 'heartbeat.deadAfter': '2s' }, []],
    [
      { 'heartbeat.deadAfter': '59s' },
      [
        'heartbeat.deadAfter (--heartbeat-dead-after) is 59000 ms, but must be at least twice heartbeat.interval (default), which is 30000 ms',
      ],
    ],
    [{ 'heartbeat.interval': '150s', 'heartbeat.deadAfter': '300s' }, []],
    [
      { 'heartbeat.interval': '151s', 'heartbeat.deadAfter': '10s', 'nats.tlsKey': 'k' },
      [
        'heartbeat.deadAfter (--heartbeat-dead-after) is 10000 ms, but must be at least twice heartbeat.interval (--heartbeat-interval), which is 151000 ms',
        'heartbeat.interval (--heartbeat-interval) is 151000 ms, but must be at most half the lease of a task, which is 300000 ms (ack_wait in nats/consumers/TASKS)',
        'nats.tlsKey (--nats-tls-key) needs nats.tlsCert as well',
      ],
    ],
    [{ 'nats.tlsCert': 'c' }, ['nats.tlsCert (--nats-tls-cert) needs nats.tlsKey as well']],
    [{ 'nats.tlsKey': 'k' }, ['nats.tlsKey (--nats-tls-key) needs nats.tlsCert as well']],
    [{ 'nats.tlsCert': 'c', 'nats.tlsKey': 'k' }, []],
    [{ 'nats.user': 'u', 'nats.password': 'env:P' }, []],
    [{ 'nats.user': 'u' }, []],
    [{ 'nats.password': 'env:P' }, ['nats.password (--nats-password) needs nats.user as well']],
    [{ 'nats.creds': 'c' }, []],
    [{ 'autoscale.min': '20' }, []],
    [
      { 'autoscale.min': '21' },
      [
        'autoscale.min (--autoscale-min) is 21, but must not be more than autoscale.max (default), which is 20',
      ],
    ],
    [
      { 'autoscale.jobsUp': '2' },
      [
        'autoscale.jobsDown (default) is 2, but must be less than autoscale.jobsUp (--autoscale-jobs-up), which is 2',
      ],
    ],
    [
      { 'autoscale.driver': 'command' },
      ['autoscale.driver (--autoscale-driver) is command: it needs autoscale.command as well'],
    ],
    [{ 'autoscale.driver': 'command', 'autoscale.command': 'true' }, []],
    [
      { 'autoscale.driver': 'swarm' },
      ['autoscale.driver (--autoscale-driver) is swarm: it needs autoscale.target as well'],
    ],
    [{ 'autoscale.driver': 'kubernetes', 'autoscale.target': 'trawl-worker' }, []],
    [
      { 'autoscale.source': 'prometheus' },
      ['autoscale.source (--autoscale-source) is prometheus: it needs autoscale.prometheusUrl as well'],
    ],
    [
      {
        'nats.user': 'u',
        'nats.password': 'env:P',
        'nats.token': 'env:P',
        'nats.creds': 'c',
        'nats.nkey': 'env:P',
      },
      [
        'nats.user (--nats-user), nats.password (--nats-password), nats.token (--nats-token), nats.creds (--nats-creds), nats.nkey (--nats-nkey): only one way to sign in to NATS may be set',
      ],
    ],
  ];
  for (const [flags, problems] of cases) {
    const env = { P: 'x' };
    t.same(problemsOf({ flags, env }), problems);
  }
});

t.test('a rule keeps silent about a value that is wrong in itself', async (t) => {
  t.equal(problemsOf({ flags: { 'heartbeat.interval': 'often' } }).length, 1);
});

t.test('the local connection is taken whole or not at all', async (t) => {
  const localDefaults = {
    'nats.url': 'nats://127.0.0.1:5222',
    'nats.user': 'u',
    'nats.password': 'local-word',
    'nats.replicas': '3',
    'egress.key': 'local-key',
  };
  const { nats } = load({ localDefaults }).config;
  t.same(nats.url, ['nats://127.0.0.1:5222']);
  t.equal(nats.password?.reveal(), 'local-word');
  t.equal(load({ localDefaults }).config.egress.key?.reveal(), 'local-key');

  const far = load({ localDefaults, flags: { 'nats.url': 'nats://far.example' } }).config;
  const elsewhere = far.nats;
  t.equal(far.egress.key, undefined, 'what is sealed there was sealed with another one');
  t.equal(elsewhere.user, undefined);
  t.equal(elsewhere.password, undefined);
  t.equal(elsewhere.replicas, 1);
  t.same(load({ localDefaults, env: { TRAWL_NATS_TOKEN: 'x' } }).config.nats.url, ['nats://127.0.0.1:4222']);
  t.equal(
    load({ localDefaults, flags: { 'nats.replicas': '2' } }).config.nats.user,
    'u',
    'the number of copies says nothing about where',
  );
});
