import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Secret } from '../../src/domain/secret.ts';
import { nodePaths, planLayout, planPorts } from '../../src/local/layout.ts';
import { renderNatsConf } from '../../src/local/nats-conf.ts';
import { natsServerPath, temporaryFolder } from '../kit/nats-server.ts';

const secrets = {
  app: new Secret('app"\\pass'),
  sys: new Secret('syspass'),
  route: new Secret('r@ute/pass'),
};

function render(home: string, nodes: number, durability: 'always' | 'interval'): string {
  const ports = planPorts({ portBase: 4222, nodes, httpPort: 8080 });
  const paths = nodePaths(planLayout({ home, shortFolder: '/tmp' }), 1);
  return renderNatsConf({
    cluster: 'trawl',
    number: 1,
    paths,
    ports,
    durability,
    maxStoreBytes: 1_000_000,
    secrets,
  });
}

t.test('one server: closed to strangers, and no routes', async (t) => {
  const text = render('/x/.trawl', 1, 'always');
  t.match(text, 'listen: "127.0.0.1:4222"');
  t.match(text, 'http: "127.0.0.1:8222"');
  t.match(text, 'server_name: "trawl-1"');
  t.match(text, 'sync_interval: always');
  t.match(text, 'max_file_store: 1000000');
  t.match(text, 'system_account: SYS');
  t.notMatch(text, 'no_auth_user');
  t.notMatch(text, 'cluster {');
  t.notMatch(text, '0.0.0.0');
  t.match(render('/x/.trawl', 1, 'interval'), 'sync_interval: "2m"');
});

t.test('three servers: routes with a password of their own', async (t) => {
  const text = render('/x/.trawl', 3, 'interval');
  t.match(text, 'listen: "127.0.0.1:6222"');
  t.match(text, 'nats-route://route:r%40ute%2Fpass@127.0.0.1:6224');
});

t.test('the server reads it, whatever the folder is called', async (t) => {
  const folder = temporaryFolder(t);
  for (const nodes of [1, 3]) {
    const file = join(folder, `${nodes}.conf`);
    writeFileSync(file, render(join(folder, 'a "quoted" home \\ ü'), nodes, 'always'));
    const said = execFileSync(natsServerPath(), ['-t', '-c', file], { encoding: 'utf8', stdio: 'pipe' });
    t.type(said, 'string');
  }
});
