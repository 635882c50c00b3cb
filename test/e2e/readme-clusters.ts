/** What the README says about a second cluster, several machines, and code is done here. */
import t from 'tap';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { quietLog } from '../kit/nats-server.ts';
import { commandsOf, createShell } from '../kit/readme.ts';
import { installTrawl } from '../kit/trawl.ts';

const shell = createShell(await installTrawl(t));

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
