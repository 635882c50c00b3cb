/** Every command of the README is run here, as it stands there. A command that this test does not know fails it. */
import t from 'tap';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Secret } from '../../src/domain/secret.ts';
import { headers as createHeaders } from '@nats-io/transport-node';
import { connectNats } from '../../src/nats/connect.ts';
import { projectRoot } from '../../src/project-root.ts';
import { quietLog } from '../kit/nats-server.ts';
import { installTrawl } from '../kit/trawl.ts';

const readme = readFileSync(join(projectRoot, 'README.md'), 'utf8');

function commandsOf(section: string): string[] {
  const body = readme.split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...body.matchAll(/```sh\n([\s\S]*?)```/g)]
    .flatMap((match) => (match[1] ?? '').split('\n'))
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '');
}

const trawl = await installTrawl(t);

/** In the project folder, with the home and the ports of this test. */
async function shell(
  line: string,
  settings: Record<string, string> = {},
): Promise<{ code: number | null; said: string }> {
  const env = { ...trawl.env, PORT_BASE: String(trawl.portBase), ...settings };
  const child = spawn('/bin/sh', ['-c', `${line} 2>&1`], {
    cwd: projectRoot,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [[code], said] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
  ]);
  return { code, said };
}

t.test('two minutes', { timeout: 120_000 }, async (t) => {
  const expected: Record<string, RegExp> = {
    'make cluster-up': /is up\.[\s\S]*Next:/,
    'npx trawl submit echo https://example.com/': /queued/,
    'npx trawl results default-echo': /^(\{.*\}\n)?$/m,
    'make cluster-status': /worker-3 +worker +running/,
    'make cluster-down': /has stopped/,
  };
  const commands = commandsOf('Two minutes');
  t.same(commands, Object.keys(expected));
  for (const command of commands) {
    const { code, said } = await shell(command);
    t.equal(code, 0, `${command}: ${said}`);
    t.match(said, expected[command], command);
  }
  t.match(
    await shell('make'),
    { code: 0, said: /make cluster-up +Start the local cluster/ },
    'make alone lists the targets',
  );
});

t.test('the program, through npx', { timeout: 60_000 }, async (t) => {
  t.match(await shell('npx trawl --help'), { code: 0, said: /trawl doctor/ });
  t.match(await shell('npx trawl config'), { code: 0, said: /nats\.url/ });
});

t.test('with the nats CLI', { timeout: 120_000 }, async (t) => {
  t.equal((await shell('make cluster-up')).code, 0);
  const cli = (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'nats')));
  const name = 'trawl-home'; // the home of this test is not .trawl, so its context has another name
  const context = JSON.parse(readFileSync(join(trawl.configHome, `nats/context/${name}.json`), 'utf8')) as {
    url: string;
    user: string;
    password: string;
  };
  const connection = await connectNats({
    access: { url: [context.url], user: context.user, password: new Secret(context.password) },
    name: 'readme',
    log: quietLog,
    whenUnreachable: 'fail',
  });
  t.teardown(() => connection.close());

  for (const command of commandsOf('With the nats CLI')) {
    if (cli && !command.includes(' sub ')) {
      const { code, said } = await shell(command.replace('--context trawl', `--context ${name}`));
      t.equal(code, 0, `${command}: ${said}`);
    }
    // The same request without the CLI, so that every recipe is held to what the cluster answers.
    const [, verb, first = '', second = ''] = /--context \S+ (\S+) (\S+) ?(.*)$/.exec(command) ?? [];
    switch (verb) {
      case 'pub': {
        const [, headers = '', subject = '', body = ''] =
          /pub -J ((?:-H \S+ )*)(\S+) (.*)$/.exec(command) ?? [];
        const header = createHeaders();
        for (const [, name = '', value = ''] of headers.matchAll(/-H ([^:]+):(\S+)/g))
          header.append(name, value);
        const stored = await connection.js.publish(subject, body.replace(/^'|'$/g, ''), { headers: header });
        t.equal(stored.stream, 'INTAKE', command);
        break;
      }
      case 'micro': {
        const replies = await connection.nc.requestMany('$SRV.PING', undefined, {
          strategy: 'stall',
          maxWait: 2_000,
        });
        const services = new Set<string>();
        for await (const reply of replies) services.add(reply.json<{ name: string }>().name);
        t.same(
          services,
          new Set([
            'trawl-coordinator',
            'trawl-proxy-manager',
            'trawl-worker',
            'trawl-exporter',
            'trawl-autoscaler',
            'trawl-services',
          ]),
        );
        break;
      }
      case 'kv': {
        const key = second.split(' ')[1];
        const subject = key === undefined ? '$KV.cluster.>' : `$KV.cluster.${key}`;
        const message = await connection.jsm.streams.getMessage('KV_cluster', { last_by_subj: subject });
        t.match(message?.json(), key === undefined ? {} : { id: 'worker-1', status: 'running' }, command);
        break;
      }
      case 'req': {
        const body = second.replace(/^'|'$/g, '');
        const reply = await connection.nc.request(first, body);
        const expected: Record<string, object> = { status: { id: 'worker-1' }, stats: { total: Number } };
        t.match(
          reply.json(),
          expected[first.split('.').at(-1) ?? ''] ?? { ok: true, level: 'debug' },
          command,
        );
        break;
      }
      case 'sub':
        t.ok((await connection.jsm.streams.info('EVENTS')).state.messages > 0, 'events are there to be read');
        break;
      case 'server':
        t.ok(existsSync(join(trawl.configHome, `nats/context/${name}-sys.json`)), command);
        break;
      default:
        t.fail(`the README has a command that this test does not know: ${command}`);
    }
  }
  t.equal((await shell('make cluster-down')).code, 0);
});

t.test('submitting, runs, dead letters, schedules', { timeout: 170_000 }, async (t) => {
  // An open run ends soon here, so that `watch` and `--follow` do.
  const up = await installTrawl(t, {
    TRAWL_RUNS_IDLE_END: '8s',
    TRAWL_WORKER_SCRAPERS: join(projectRoot, 'config/scrapers'),
    WORKERS: '1',
  });
  await up.json('up');
  const file = join(up.home, '../urls.txt');
  writeFileSync(file, '# a list\nhttps://shop.example/1\nhttps://shop.example/2\n');
  const settings = { ...up.env, PORT_BASE: String(up.portBase) };
  const run = (command: string): Promise<{ code: number | null; said: string }> => shell(command, settings);

  const id =
    (
      await up.json<{ tasks: { id: string }[] }>(
        'submit',
        'echo',
        'https://shop.example/1',
        '--run',
        'friday',
      )
    ).tasks[0]?.id ?? '';
  const words = (command: string): string =>
    command.replaceAll('urls.txt', file).replaceAll('3kf0…', id).replace('--state active', '');
  for (const section of ['Submitting', 'Runs', 'Dead letters', 'Schedules']) {
    for (const command of commandsOf(section)) {
      const { code, said } = await run(words(command));
      // What has ended cannot be cancelled, and what is not dead has no dead letter: both say so.
      const may = /cancel|dead show/.test(command) ? [0, 1, 2] : [0];
      t.ok(may.includes(code ?? -1), `${command}: ${code ?? 'signal'} ${said}`);
      t.notMatch(said, /\n\s+at .*\(/, 'no stack trace');
    }
  }
});

t.test('a second cluster beside the first', { timeout: 120_000 }, async (t) => {
  const other = await installTrawl(t);
  for (const command of commandsOf('The local cluster')) {
    const moved = command.replace('.trawl-b', other.home).replace('5222', String(other.portBase));
    const { code, said } = await shell(moved, { TRAWL_HOME: other.home, PORT_BASE: String(other.portBase) });
    t.equal(code, 0, `${moved}: ${said}`);
  }
});

t.test('on several machines', { timeout: 60_000 }, async (t) => {
  t.same(commandsOf('On several machines'), [
    'export NATS_URL=nats://nats.example:4222 TRAWL_NATS_USER=trawl TRAWL_NATS_PASSWORD=…',
    'npx trawl topology apply --nats-replicas 3',
    'npx trawl worker',
  ]);
  // The same words against a server of this machine, which can keep one copy only.
  const up = await installTrawl(t, { WORKERS: '0' });
  await up.json('up');
  const password = readFileSync(join(up.home, 'secrets/app.password'), 'utf8').trim();
  const away = {
    NATS_URL: `nats://127.0.0.1:${up.portBase}`,
    TRAWL_NATS_USER: 'trawl',
    TRAWL_NATS_PASSWORD: password,
  };
  t.match(await shell('npx trawl topology apply --nats-replicas 1', away), {
    code: 0,
    said: /Nothing to do/,
  });
  const stranger = await installTrawl(t, away);
  const worker = stranger.start('worker', '--id', 'far-away', '--log-format', 'json');
  if (!worker.stderr) throw new Error('no pipe');
  for await (const chunk of worker.stderr.setEncoding('utf8'))
    if (String(chunk).includes('actor.started')) break;
  worker.kill('SIGTERM');
  const [code] = (await once(worker, 'exit')) as [number];
  t.equal(code, 0);
});

t.test('in code', async (t) => {
  const { loadConfig, startCluster } = await import('../../src/index.ts');
  const up = await installTrawl(t, { WORKERS: '0' });
  await up.json('up');
  const password = readFileSync(join(up.home, 'secrets/app.password'), 'utf8').trim();
  const env = {
    NATS_URL: `nats://127.0.0.1:${up.portBase}`,
    TRAWL_NATS_USER: 'trawl',
    TRAWL_NATS_PASSWORD: password,
  };
  const { config } = loadConfig({ flags: {}, env, cwd: up.home });
  const cluster = await startCluster(config, { role: 'worker', log: quietLog });
  t.match(cluster.actors(), [{ role: 'worker' }]);
  await cluster.stop();
  t.same(cluster.actors(), []);
});
