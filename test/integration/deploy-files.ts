/**
 * The files for Docker, Swarm, systemd and nginx, read by the programs that they are for. Where such a program is not to
 * be had, that check says so by name; what we can see for ourselves is checked everywhere.
 */
import t, { type Test } from 'tap';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parse } from 'yaml';
import { settings } from '../../src/config/catalogue.ts';
import { ROLES } from '../../src/domain/role.ts';
import { projectRoot } from '../../src/project-root.ts';
import { claimPorts } from '../kit/claim-ports.ts';
import { guard, natsServerPath, temporaryFolder } from '../kit/nats-server.ts';
import { untilSo } from '../kit/small-cluster.ts';

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly stop_grace_period?: string;
  readonly deploy?: Readonly<Record<string, unknown>>;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
}

const folder = join(projectRoot, 'config');
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
const envNames = new Set(settings.flatMap(({ env }) => env));
const roles = ROLES.filter((role) => role !== 'sink');

/** A validator that is here or can be fetched; otherwise the test says which one is missing. */
function findValidator(t: Test, name: 'docker-compose' | 'nginx'): string | undefined {
  const { status, stdout, stderr } = spawnSync('sh', [join(projectRoot, 'test/get-validator.sh'), name], {
    encoding: 'utf8',
  });
  if (status === 0) return stdout.trim();
  t.comment(stderr);
  t.plan(0, `${name} is not to be had: only our own checks were made`);
  return undefined;
}

function onPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(':');
  return folders.map((each) => join(each, name)).find((file) => existsSync(file));
}

function passes(t: Test, program: string, ...words: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, words, { encoding: 'utf8', cwd: projectRoot });
  t.equal(status, 0, `${program} ${words.join(' ')}: ${stderr}`);
  return stdout;
}

for (const file of ['docker/compose.yaml', 'docker/stack.yaml']) {
  t.test(`${file}: every role, with settings that exist and no password`, async (t) => {
    const { services } = parse(read(file), { merge: true }) as Compose;
    for (const role of roles) {
      const service = services[role];
      t.strictSame(service?.command, [role]);
      t.equal(service?.stop_grace_period, '45s');
      t.match(service?.environment?.['TRAWL_NATS_PASSWORD'], /^file:\/run\/secrets\/\w+$/);
      for (const name of Object.keys(service?.environment ?? {}))
        t.ok(envNames.has(name), `${name} is a setting`);
    }
    t.notMatch(read(file), /password[:=] *['"]?[\w]{6,}/i);
  });
}

t.test('the stack has the sizes and the steps that were promised', async (t) => {
  const { services } = parse(read('docker/stack.yaml'), { merge: true }) as Compose;
  const common = {
    restart_policy: { condition: 'on-failure', delay: '5s', max_attempts: 3 },
    update_config: { parallelism: 2, delay: '10s', failure_action: 'rollback' },
    rollback_config: { parallelism: 2, delay: '10s' },
  };
  t.strictSame(services['coordinator']?.deploy, {
    ...common,
    replicas: 2,
    resources: { limits: { memory: '1G' } },
  });
  t.strictSame(services['worker']?.deploy, {
    ...common,
    replicas: 5,
    resources: { limits: { memory: '2G' } },
  });
});

t.test('docker-compose takes both files', async (t) => {
  const compose = findValidator(t, 'docker-compose');
  if (compose === undefined) return;
  for (const file of ['compose.yaml', 'stack.yaml'])
    passes(t, compose, '-f', join(folder, 'docker', file), 'config', '--quiet');
});

const docker = onPath('docker');
t.test('docker takes the stack', { skip: docker === undefined && 'docker is not here' }, async (t) => {
  const said = passes(t, docker ?? '', 'stack', 'config', '-c', join(folder, 'docker/stack.yaml'));
  t.match(parse(said), { services: { worker: { deploy: { replicas: 5 } } } });
});

t.test('the image: two stages, no root, everything it copies is there', async (t) => {
  const text = read('docker/Dockerfile').replaceAll('\\\n', ' ');
  t.equal(text.match(/^FROM node:20-slim/gm)?.length, 2);
  const last = text.slice(text.lastIndexOf('\nFROM '));
  t.match(last, /^USER node$/m);
  t.match(last, /^ENTRYPOINT \["node", "\/app\/dist\/program\/main\.js"\]$/m);
  t.notMatch(last, /npm|COPY (src|test)/, 'neither sources nor what builds them');
  const ignored = read('docker/Dockerfile.dockerignore');
  for (const [, names = ''] of text.matchAll(/^COPY (?!--from)(.*) \S+$/gm))
    for (const name of names.split(' ')) {
      t.ok(existsSync(join(projectRoot, name)), name);
      t.ok(ignored.includes(`!${name}\n`), `${name} is in the context`);
    }
  for (const [, name = ''] of text.matchAll(/ (TRAWL_\w+)=/g))
    t.ok(envNames.has(name), `${name} is a setting`);
});

t.test('nats-server takes its configuration', async (t) => {
  const { status, stderr } = spawnSync(natsServerPath(), ['-t', '-c', join(folder, 'docker/nats.conf')], {
    encoding: 'utf8',
    env: { NATS_PASSWORD: 'not-a-secret' },
  });
  t.equal(status, 0, stderr);
});

const units = readdirSync(join(folder, 'systemd'));
t.test('units: every role, room to finish, a password by reference', async (t) => {
  t.strictSame(units.sort(), ['trawl-worker@.service', 'trawl.target', 'trawl@.service']);
  for (const name of units.filter((each) => each.endsWith('.service'))) {
    const text = read(`systemd/${name}`);
    t.match(text, /^TimeoutStopSec=45$/m);
    t.match(text, /^LoadCredential=nats\.password:/m);
    t.match(text, /^Restart=on-failure\nRestartSec=5$/m);
    t.match(text, name.includes('worker') ? /^ExecStart=\S+ worker --id/m : /^ExecStart=\S+ %i --id %l-%i$/m);
    for (const [, setting = ''] of text.matchAll(/[= ](TRAWL_\w+)=/g)) t.ok(envNames.has(setting), setting);
  }
});

const analyze = onPath('systemd-analyze');
t.test('systemd takes them', { skip: analyze === undefined && 'systemd-analyze is not here' }, async (t) => {
  const place = temporaryFolder(t);
  // It also looks for the program, which is not installed here.
  for (const name of units)
    writeFileSync(
      join(place, name),
      read(`systemd/${name}`).replace('/usr/local/bin/trawl', process.execPath),
    );
  const files = ['trawl.target', 'trawl-worker@1.service', ...roles.map((role) => `trawl@${role}.service`)];
  const words = ['verify', '--man=no', ...files.map((name) => join(place, name))];
  const { status, stderr } = spawnSync(analyze ?? '', words, { encoding: 'utf8' });
  // A key that it does not know is a warning to it, and the code still 0; what it says of other units is not about us.
  const aboutUs = stderr.split('\n').filter((line) => line.includes(place) || line.includes('trawl'));
  t.strictSame({ status, aboutUs }, { status: 0, aboutUs: [] });
});

t.test('nginx takes its file, balances, and limits', async (t) => {
  const text = read('nginx/trawl.conf');
  t.match(text, /least_conn;\s+server 127\.0\.0\.1:8080 max_fails=3 fail_timeout=30s;/);
  t.match(text, /zone=trawl_api:10m rate=30r\/m;/);
  t.match(text, /zone=trawl_submit:10m rate=10r\/m;/);
  const nginx = findValidator(t, 'nginx');
  if (nginx === undefined) return;

  const hits = [0, 0];
  const ports = await Promise.all(
    hits.map(async (_, place) => {
      const server = createServer((request, response) => {
        hits[place] = (hits[place] ?? 0) + 1;
        response.end(request.url);
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      t.teardown(() => server.close());
      return (server.address() as AddressInfo).port;
    }),
  );
  const place = temporaryFolder(t);
  mkdirSync(join(place, 'tmp'));
  const moved = text
    .replace('127.0.0.1:8080', `127.0.0.1:${ports[0] ?? 0}`)
    .replace('127.0.0.1:8081', `127.0.0.1:${ports[1] ?? 0}`)
    .replace('listen 8090;', `listen 127.0.0.1:${await claimPorts(t)};`);
  const port = /listen 127\.0\.0\.1:(\d+)/.exec(moved)?.[1] ?? '';
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  writeFileSync(join(place, 'trawl.conf'), moved);
  writeFileSync(
    join(place, 'nginx.conf'),
    [
      `daemon off; worker_processes 1; pid ${place}/nginx.pid; error_log stderr;`,
      'events { worker_connections 512; }',
      `http { access_log off; ${kinds.map((kind) => `${kind}_temp_path ${place}/tmp/${kind};`).join(' ')}`,
      `include ${place}/trawl.conf; }`,
    ].join('\n'),
  );
  passes(t, nginx, '-t', '-p', place, '-c', join(place, 'nginx.conf'), '-e', 'stderr');

  const child = spawn(nginx, ['-p', place, '-c', join(place, 'nginx.conf'), '-e', 'stderr'], {
    stdio: 'ignore',
  });
  guard(child);
  t.teardown(async () => {
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    await gone;
  });
  const ask = (path: string, method = 'GET'): Promise<number> =>
    fetch(`http://127.0.0.1:${port}${path}`, { method }).then(
      ({ status }) => status,
      () => 0,
    );
  await untilSo(
    () => ask('/healthz'),
    (status) => status === 200,
  );
  const many = (count: number, path: string, method?: string): Promise<number[]> =>
    Promise.all(Array.from({ length: count }, () => ask(path, method)));
  const ok = (statuses: readonly number[]): number => statuses.filter((status) => status === 200).length;
  t.equal(ok(await many(40, '/healthz')), 40, 'probes are never limited');
  t.equal(ok(await many(40, '/metrics')), 40, 'nor is Prometheus');
  t.ok((hits[0] ?? 0) > 10 && (hits[1] ?? 0) > 10, `both exporters are asked: ${hits.join(', ')}`);
  const posted = await many(20, '/anything', 'POST');
  // One at once and a burst of five; the bucket of those who look is not empty yet.
  t.ok(ok(posted) >= 6 && ok(posted) <= 7, `${ok(posted)} of 20 that change something`);
  t.ok(posted.includes(429));
  const looked = await many(40, '/snapshot');
  t.ok(ok(looked) <= 16 && looked.includes(429), `${ok(looked)} of 40 that look`);
});
