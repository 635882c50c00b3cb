/** A local cluster follows a real backlog, from two workers up and back to two: nothing lost, nothing done twice, every step explained. */
import t from 'tap';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '../../src/domain/secret.ts';
import { askSupervisor } from '../../src/local/ask-supervisor.ts';
import type { ChildState } from '../../src/local/state.ts';
import { listBeats } from '../../src/nats/beats.ts';
import { openBucket } from '../../src/nats/bucket.ts';
import { connectNats } from '../../src/nats/connect.ts';
import { createServices } from '../../src/nats/services-client.ts';
import { createNames } from '../../src/wire/names.ts';
import { quietLog, temporaryFolder, type Teardown } from '../kit/nats-server.ts';
import { commandsOf } from '../kit/readme.ts';
import { untilSo } from '../kit/small-cluster.ts';
import { installTrawl, type Program } from '../kit/trawl.ts';

const TASKS = 60;

interface Decided {
  readonly at: number;
  readonly words: string;
  readonly decision: { from: number; to: number; action: string; reason: string; inputs: { load?: object } };
}

interface Gates {
  readonly scrapers: string;
  /** What was started, and in which process: a task that was interrupted would be there twice. */
  readonly starts: () => { url: string; pid: number }[];
  /** Tasks wait for their gate. */
  readonly open: (gate: string) => void;
}

function writeScraper(folder: string): Gates {
  const scrapers = join(folder, 'scrapers');
  const file = join(folder, 'starts');
  mkdirSync(scrapers);
  writeFileSync(file, '');
  writeFileSync(
    join(scrapers, 'gated.mjs'),
    `import { appendFileSync, existsSync } from 'node:fs';
     export const scraper = {
       name: 'gated',
       mode: 'distributed',
       async run({ input, url, emit }) {
         appendFileSync(${JSON.stringify(file)}, JSON.stringify({ url, pid: process.pid }) + '\\n');
         while (!existsSync(${JSON.stringify(folder)} + '/' + input.gate)) await new Promise((resolve) => setTimeout(resolve, 20));
         emit({ url });
       },
     };`,
  );
  return {
    scrapers,
    starts: () =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as { url: string; pid: number }),
    open: (gate) => writeFileSync(join(folder, gate), ''),
  };
}

/** Looks without starting a program each time. */
interface Looks {
  readonly workers: () => Promise<string[]>;
  readonly processes: () => Promise<readonly ChildState[]>;
  readonly stats: () => Promise<{ done: number; dead: number }>;
  readonly draining: () => Promise<string[]>;
}

async function openLooks(t: Teardown, trawl: Program): Promise<Looks> {
  const password = new Secret(readFileSync(join(trawl.home, 'secrets/app.password'), 'utf8').trim());
  const connection = await connectNats({
    access: { url: [`nats://127.0.0.1:${trawl.portBase}`], user: 'trawl', password },
    name: 'test',
    log: quietLog,
    whenUnreachable: 'fail',
  });
  t.teardown(() => connection.close());
  const services = createServices(connection, createNames('trawl'));
  const bucket = openBucket(connection, 'cluster');
  const processes = async (): Promise<readonly ChildState[]> => {
    const asked = await askSupervisor(join(trawl.home, 'control.sock'), 'status', { limitMs: 10_000 });
    return asked.kind === 'answered' ? asked.state.children : [];
  };
  return {
    processes,
    workers: async () =>
      (await listBeats(bucket, quietLog))
        .filter(({ role, status }) => role === 'worker' && status === 'running')
        .map(({ id }) => id)
        .sort(),
    draining: async () =>
      (await listBeats(bucket, quietLog)).filter(({ status }) => status === 'draining').map(({ id }) => id),
    stats: async () => (await services.call('stats', {})) as { done: number; dead: number },
  };
}

t.test('two, more, and two again', { timeout: 150_000 }, async (t) => {
  const folder = temporaryFolder(t);
  const { scrapers, starts, open } = writeScraper(folder);
  const trawl = await installTrawl(t, {
    WORKERS: '2',
    TRAWL_WORKER_SCRAPERS: scrapers,
    TRAWL_WORKER_CONCURRENCY: '2',
    TRAWL_WORKER_ADAPTIVE: 'false',
    TRAWL_AUTOSCALE_INTERVAL: '500ms',
    TRAWL_AUTOSCALE_COOLDOWN_UP: '1s',
    TRAWL_AUTOSCALE_COOLDOWN_DOWN: '1s',
    TRAWL_AUTOSCALE_DRAIN_TARGET: '2s',
    TRAWL_HEARTBEAT_INTERVAL: '1s',
    TRAWL_AUTOSCALE_MAX: '4',
    // The machine of the test may be busy with other things.
    TRAWL_GUARD_CPU: '100',
    TRAWL_GUARD_MEMORY: '100',
    TRAWL_GUARD_DISK: '100',
    TRAWL_GUARD_LOAD: '10000',
    TRAWL_GUARD_CORES_PER_WORKER: '0.01',
  });
  await trawl.json('up');
  const looks = await openLooks(t, trawl);
  t.match(await trawl.json('autoscale', 'status'), {
    driver: 'process',
    limits: { min: 2, max: 4, policy: 'drain_time' },
  });

  const list = join(folder, 'tasks');
  const line = (place: number): string =>
    JSON.stringify({ url: `https://shop.example/${place}`, gate: 'first' });
  writeFileSync(list, Array.from({ length: TASKS }, (_, place) => line(place)).join('\n'));
  await trawl.json('submit', 'gated', '--file', list);

  const most = await untilSo(looks.workers, (ids) => ids.length === 4, 60_000);
  t.same(most, ['worker-1', 'worker-2', 'worker-3', 'worker-4']);
  open('first');
  await untilSo(looks.stats, ({ done, dead }) => done + dead === TASKS, 60_000);
  await untilSo(looks.workers, (ids) => ids.length === 2, 60_000);
  t.match(await looks.stats(), { done: TASKS, dead: 0 }, 'nothing lost');
  t.equal(starts().length, TASKS, 'nobody was interrupted');
  t.equal(new Set(starts().map(({ url }) => url)).size, TASKS);

  const history = await trawl.json<Decided[]>('autoscale', 'history', '--all');
  const changes = history.filter(({ decision: { from, to } }) => from !== to);
  t.ok(changes.some(({ decision }) => decision.action === 'up' && decision.from === 2));
  t.ok(changes.some(({ decision }) => decision.action === 'down' && decision.to === 2));
  for (const { decision, words } of changes) {
    t.ok(words.length > 10, `${decision.from} → ${decision.to}: ${words}`);
    t.ok(decision.inputs.load, 'with what was measured');
  }
  // Those that drain count until they have ended.
  const explained = await untilSo(
    () => trawl.run('autoscale', 'explain'),
    ({ stdout }) => stdout.startsWith('2 workers, decided'),
    30_000,
  );
  t.match(explained.stdout, /^2 workers, decided .*\n\nto do +0: [\s\S]*The last changes:/);

  await t.test('the commands of the README', async (t) => {
    const expected: Readonly<Record<string, RegExp>> = {
      'autoscale explain': /workers, decided/,
      'autoscale history --since 2h': /up +2 → 4 +\d+ +\S/,
      'autoscale replay --policy per_worker': /per_worker 1000 +\d+/,
      advise: /tasks a second/,
      'scale worker=4': /\d → 4 workers/,
      'drain worker-1': /finishes what it has/,
    };
    const commands = commandsOf('Autoscaling').map((line) => line.replace('npx trawl ', ''));
    t.same(commands, Object.keys(expected));
    for (const command of commands) {
      const { code, stdout, stderr } = await untilSo(
        async () => {
          // Who is there at this moment nobody can know beforehand: the autoscaler goes on meanwhile.
          const [someone = ''] = await looks.workers();
          return trawl.run(...command.replace('worker-1', someone).split(' '));
        },
        ({ stderr }) => !stderr.includes('nobody is called'),
        30_000,
      );
      t.equal(code, 0, `${command}: ${stderr}`);
      t.match(stdout, expected[command], command);
    }
  });

  await t.test('by hand', async (t) => {
    t.match(await trawl.run('scale', 'worker=5'), { code: 2, stderr: /5 workers are not between 2 and 4/ });
    await untilSo(looks.workers, (ids) => ids.length === 2, 60_000);

    // One with a task in hand finishes it, however long that takes.
    await trawl.json('submit', 'gated', '--file', writeLong(folder));
    const [start] = await untilSo(
      async () => starts().filter(({ url }) => url.endsWith('/long')),
      (found) => found.length === 1,
      20_000,
    );
    const holder = (await looks.processes()).find(({ process }) => process?.pid === start?.pid)?.name ?? '';
    t.match(await trawl.run('drain', holder), { code: 0, stdout: /finishes what it has/ });
    await untilSo(looks.draining, (ids) => ids.includes(holder), 20_000);
    open('second');
    await untilSo(looks.stats, ({ done }) => done === TASKS + 1, 20_000);
    t.equal(starts().length, TASKS + 1, 'it was started once');
    const left = await untilSo(looks.workers, (ids) => ids.length === 2, 30_000);
    // Below the least number another one comes, under the first name that is free.
    t.match(await trawl.run('drain', left[0] ?? ''), { code: 0 });
    const repaired = await untilSo(
      () => trawl.json<Decided[]>('autoscale', 'history'),
      (found) => found.some(({ decision }) => decision.action === 'repair'),
      30_000,
    );
    t.match(
      repaired.find(({ decision }) => decision.action === 'repair'),
      { decision: { from: 1, to: 2, reason: 'below-min' } },
    );
    await untilSo(looks.workers, (ids) => ids.length === 2, 30_000);
  });

  const again = await trawl.json<{ outcome: string; differences: unknown[] }>('up');
  t.match(again, { outcome: 'already-up', differences: [] }, 'a second up finds what was asked for');
  const pids = (await looks.processes()).flatMap(({ process: child }) => (child ? [child.pid] : []));
  t.match(await trawl.run('down'), { code: 0, stdout: /has stopped/ });
  for (const pid of pids) t.throws(() => process.kill(pid, 0), { code: 'ESRCH' }, `process ${pid}`);
});

function writeLong(folder: string): string {
  const file = join(folder, 'long');
  writeFileSync(file, JSON.stringify({ url: 'https://shop.example/long', gate: 'second' }));
  return file;
}
