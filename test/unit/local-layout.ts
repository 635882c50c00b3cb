import { basename } from 'node:path';
import t from 'tap';
import { allPorts, clusterNameOf, HOME_ENTRIES, planLayout, planPorts } from '../../src/local/layout.ts';

const shortFolder = '/tmp/trawl-0';

t.test('ports move together', async (t) => {
  t.strictSame(planPorts({ portBase: 4222, nodes: 1, httpPort: 8080 }), {
    client: [4222],
    routes: [],
    monitor: [8222],
    http: 8080,
  });
  t.strictSame(planPorts({ portBase: 5222, nodes: 3, httpPort: 8080 }), {
    client: [5222, 5223, 5224],
    routes: [7222, 7223, 7224],
    monitor: [9222, 9223, 9224],
    http: 9080,
  });
});

t.test('an exporter on any free port', async (t) => {
  const ports = planPorts({ portBase: 5222, nodes: 1, httpPort: 0 });
  t.equal(ports.http, 0);
  t.strictSame(allPorts(ports), [5222, 9222], 'nothing to check beforehand');
});

t.test('ports that cannot be are refused, all others are distinct', async (t) => {
  t.throws(() => planPorts({ portBase: 64_000, nodes: 1, httpPort: 8080 }), { code: 'INVALID' });
  t.throws(() => planPorts({ portBase: 1, nodes: 1, httpPort: 4000 }), { code: 'INVALID' });
  t.throws(() => planPorts({ portBase: 4222, nodes: 3, httpPort: 8224 }), {
    code: 'INVALID',
    message: /twice/,
  });
  for (let portBase = 1_024; portBase < 60_000; portBase += 997) {
    const ports = allPorts(planPorts({ portBase, nodes: 3, httpPort: 8080 }));
    t.equal(new Set(ports).size, 10);
  }
});

t.test('a cluster is named after its home', async (t) => {
  const names = {
    '/x/.trawl': 'trawl',
    '/x/trawl': 'trawl',
    '/x/shop': 'trawl-shop',
    '/x/.trawl-2': 'trawl-2',
    '/x/a b!': 'trawl-a-b',
  };
  for (const [home, name] of Object.entries(names)) t.equal(clusterNameOf(home), name, home);
});

t.test('the socket of a long home is elsewhere, always in the same place', async (t) => {
  t.equal(planLayout({ home: '/x/.trawl', shortFolder }).socket, '/x/.trawl/control.sock');
  const home = `/${'ü'.repeat(50)}/.trawl`;
  const { socket } = planLayout({ home, shortFolder });
  t.match(socket, /^\/tmp\/trawl-0\/[0-9a-f]{12}\.sock$/);
  t.equal(socket, planLayout({ home, shortFolder }).socket);
  t.not(socket, planLayout({ home: `${home}2`, shortFolder }).socket);
});

t.test('our entries and nobody else’s', async (t) => {
  const { marker, state, data, logs, secrets, socket } = planLayout({ home: '/x/.trawl', shortFolder });
  for (const path of [marker, state, data, logs, secrets, socket]) t.match(basename(path), HOME_ENTRIES);
  for (const name of ['nats-1.conf', 'nats-3.pid', 'lock.7', 'cluster.json.new', 'prometheus'])
    t.match(name, HOME_ENTRIES);
  for (const name of ['notes.txt', 'data2', 'my-logs', 'nats.conf', '.git', 'lock'])
    t.notMatch(name, HOME_ENTRIES);
});
