/**
 * A real cluster does real work, a real Prometheus scrapes it with the files that we ship, and every panel of every
 * dashboard gets an answer.
 */
import t, { type Test } from 'tap';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseSnapshot } from '../../src/domain/snapshot.ts';
import { localConfig } from '../../src/local/prometheus.ts';
import { prometheusPort } from '../../src/local/layout.ts';
import { findBusyPorts } from '../../src/local/ports.ts';
import type { ActorRow } from '../../src/policy/actor-rows.ts';
import { program } from '../../src/program.ts';
import { projectRoot } from '../../src/project-root.ts';
import { busySettings, firstLines, startSite, work, workOn } from '../kit/busy-cluster.ts';
import { openDemoSite } from '../kit/demo-world.ts';
import { ACTOR_METRICS, CLUSTER_METRICS, ROLE_METRICS } from '../kit/metric-names.ts';
import { guard } from '../kit/nats-server.ts';
import { questionsOf, unanswered } from '../kit/panels.ts';
import { askPrometheus, findPromtool, needPrometheus, startPrometheus } from '../kit/prometheus.ts';
import { commandsOf, createShell } from '../kit/readme.ts';
import { untilSo } from '../kit/small-cluster.ts';
import { installTrawl, type Program } from '../kit/trawl.ts';

t.test('every panel of every dashboard has data', { timeout: 170_000 }, async (t) => {
  const binary = needPrometheus(t, 'prometheus');
  if (binary === undefined) return;
  const trawl = await installTrawl(t, busySettings(t));
  const { port, proxyFile } = await startSite(trawl);
  const friendly = await openDemoSite(t);
  const refused = await trawl.run('observe');
  t.equal(refused.code, 3, 'without a cluster there is nothing to observe');
  t.match(refused.stderr, /trawl up/);

  await trawl.json(
    ...['up', '--egress-probe-url', `http://127.0.0.1:${port}/health`],
    ...['--fetch-allow-loopback', `127.0.0.1:${port},${new URL(friendly.url).host}`],
  );
  await trawl.json('proxies', 'import', proxyFile);
  const { actors } = await trawl.json<{ actors: ActorRow[] }>('status');
  const exporter = pageOf(actors, 'exporter');
  const startedMs = Date.now();
  const prometheus = await startPrometheus(t, {
    program: binary,
    config: localConfig(new URL(exporter).host).replaceAll(': 15s', ': 1s'),
  });
  // A change can only be seen by somebody who knows what was before it.
  await untilSo(
    () =>
      unanswered(
        prometheus,
        [{ where: 'before', expr: 'trawl_runs and on () trawl_workers_desired' }],
        startedMs,
      ),
    (questions) => questions.length === 0,
    60_000,
  );
  await work(trawl, `http://127.0.0.1:${port}`);

  const panels = questionsOf('panels');
  t.ok(panels.length > 100, `${panels.length} questions`);
  // What has had an answer once is not asked again.
  let left = [...panels, ...questionsOf('variables'), ...questionsOf('annotations')];
  await untilSo(
    async () => {
      left = await unanswered(prometheus, left, startedMs);
      // On a busy machine all of the work may lie between two scrapes, and the site that banned us is closed after it.
      if (left.length > 0) await workOn(trawl, friendly.url);
      return left;
    },
    (questions) => questions.length === 0,
    60_000,
  ).catch((error: unknown) => t.comment(error));
  t.strictSame(left, []);

  await t.test('Prometheus finds every actor, each once', async (t) => {
    const { activeTargets } = (await prometheus.ask('/api/v1/targets')) as {
      activeTargets: { health: string; labels: Record<string, string>; lastError: string }[];
    };
    t.strictSame(
      activeTargets
        .map(({ health, labels, lastError }) =>
          `${labels['job'] ?? ''} ${labels['actor'] ?? ''} ${health} ${lastError}`.trim(),
        )
        .sort(),
      [
        'trawl-exporter  up',
        ...actors
          .filter(({ role }) => role !== 'nats' && role !== 'exporter')
          .map(({ id }) => `trawl-actors ${id} up`),
      ].sort(),
    );
  });

  await t.test('the pages: as promtool wants them, and the metrics that we say there are', (t) =>
    checkPages(t, actors),
  );

  await t.test('what the README looks at', (t) => looksAt(t, exporter));

  await t.test('the five figures are true', async (t) => {
    const figure = async (name: string): Promise<number> => {
      const { result } = (await prometheus.ask('/api/v1/query', { query: `trawl:${name}` })) as {
        result: { value: [number, string] }[];
      };
      t.equal(result.length, 1, name);
      return Number(result[0]?.value[1]);
    };
    const { total } = await trawl.json<{ total: number }>('stats');
    t.equal(
      await untilSo(
        () => figure('total_jobs'),
        (seen) => seen === total,
        30_000,
      ),
      total,
    );
    t.equal(await figure('active_workers'), 2);
    const errors = await figure('error_rate');
    t.ok(errors > 0 && errors < 1, `${errors}`);
  });

  await t.test('`trawl observe` runs Prometheus until it is told to stop', (t) => observes(t, trawl));
});

/** The pages that the README looks at with curl, which not every machine has. */
async function looksAt(t: Test, exporter: string): Promise<void> {
  const paths = commandsOf('Metrics').map(
    (command) => /^curl http:\/\/127\.0\.0\.1:8080(\/\w+)$/.exec(command)?.[1],
  );
  t.strictSame(paths, ['/metrics', '/snapshot', '/targets']);
  const read = (path = ''): Promise<string> => fetch(`${exporter}${path}`).then((page) => page.text());
  const [metrics = '', snapshot = '', targets = ''] = await Promise.all(paths.map(read));
  t.match(metrics, /^trawl_tasks_done_total \d/m);
  t.ok(parseSnapshot(JSON.parse(snapshot)).totals.done > 0);
  t.match(JSON.parse(targets), [{ targets: [/^127\.0\.0\.1:\d+$/], labels: { trawl_role: String } }]);
}

/** Through make, as a person does it, and Ctrl-C at the end. */
async function observes(t: Test, trawl: Program): Promise<void> {
  const port = prometheusPort(trawl.portBase);
  const url = `http://127.0.0.1:${port}`;
  const make = spawn('make', ['observe'], {
    cwd: projectRoot,
    env: { ...trawl.env, PORT_BASE: String(trawl.portBase) },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  guard(make);
  t.match(
    await firstLines(make, (line) => line.includes('PROMETHEUS_URL')),
    `Prometheus is at ${url}; Ctrl-C`,
  );
  await untilSo(
    () => askPrometheus(url, '/api/v1/query', { query: 'up == 1' }) as Promise<{ result: unknown[] }>,
    ({ result }) => result.length > 0,
    30_000,
  );
  const second = await trawl.run('observe');
  t.equal(second.code, 1);
  t.match(second.stderr, new RegExp(`port ${port} is taken by another program[\\s\\S]*--port ${port + 1}`));
  const gone = once(make, 'exit');
  process.kill(-(make.pid ?? 0), 'SIGINT');
  await gone;
  await untilSo(
    () => findBusyPorts([port]),
    (busy) => busy.length === 0,
  );

  const child = trawl.start('observe', '--port', '0', '--json');
  const { folder } = JSON.parse(await firstLines(child, (line) => line === '}')) as { folder: string };
  t.equal(folder, join(trawl.home, 'prometheus'));
  child.kill('SIGINT');
  const [code] = (await once(child, 'exit')) as [number | null];
  t.equal(code, 0, 'being told to stop is no failure');

  const none = await createShell(trawl)(`node ${program.main} observe`, { PROMETHEUS: '/nonexistent' });
  t.equal(none.code, 1);
  t.match(none.said, /no prometheus is to be had[\s\S]*on the PATH, or name it with PROMETHEUS/);
}

/** `promtool check metrics`, and our own list against what is there, both ways. */
async function checkPages(t: Test, actors: readonly ActorRow[]): Promise<void> {
  const promtool = findPromtool() ?? '';
  const unseen = new Map<string, string>(
    Object.entries(ROLE_METRICS).flatMap(([role, list]) =>
      Object.keys(list).map((name): [string, string] => [name, role]),
    ),
  );
  for (const { role, id, page } of actors.filter((actor) => actor.role !== 'nats')) {
    const response = await fetch(`${page ?? ''}/metrics`);
    const text = await response.text();
    t.match(response.headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
    const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], {
      input: text,
      encoding: 'utf8',
    });
    t.strictSame(
      { status, stdout, stderr },
      { status: 0, stdout: '', stderr: '' },
      `${id}: promtool check metrics`,
    );
    const listed = {
      ...ACTOR_METRICS,
      ...ROLE_METRICS[role],
      ...(role === 'exporter' ? CLUSTER_METRICS : {}),
    };
    const found = [...text.matchAll(/^# TYPE (trawl_\w+) (\w+)$/gm)].map(([, name = '', type = '']) => ({
      name,
      type,
    }));
    for (const { name, type } of found) t.equal(listed[name]?.type, type, `${id}: ${name}`);
    const names = found.map(({ name }) => name);
    for (const name of names) unseen.delete(name);
    if (role === 'exporter')
      t.strictSame(
        Object.keys(listed).filter((name) => !names.includes(name)),
        [],
        'the exporter has all that it should',
      );
  }
  t.strictSame([...unseen.keys()], [], 'every metric of a role is on its page');
}

function pageOf(actors: readonly ActorRow[], role: string): string {
  const page = actors.find((actor) => actor.role === role)?.page;
  if (page === undefined) throw new Error(`no page of ${role}`);
  return page;
}
