import t from 'tap';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTopologyFiles } from '../../src/nats/apply-topology.ts';
import { findDrift } from '../../src/policy/topology-drift.ts';
import { projectRoot } from '../../src/project-root.ts';
import { BUCKETS, createNames, STREAMS } from '../../src/wire/names.ts';
import { planTopology } from '../../src/wire/topology.ts';

t.test('drift is what differs, and "off" may be left out', async (t) => {
  t.same(
    findDrift({ a: 1, b: ['x'] }, { a: 1, b: ['x'], sealed: false, compression: 'none', limits: {} }),
    [],
  );
  t.same(findDrift({ a: 1 }, { a: 2 }), [{ setting: 'a', want: 1, have: 2 }]);
  t.same(findDrift({ subjects: ['a', 'b'] }, { subjects: ['a'] }), [
    { setting: 'subjects', want: ['a', 'b'], have: ['a'] },
  ]);
  t.same(findDrift({}, { sealed: true }), [{ setting: 'sealed', want: undefined, have: true }]);
  t.same(
    findDrift({ metadata: { a: 'b' } }, { metadata: { '_nats.ver': '2' } }),
    [],
    'notes of the server do not count',
  );
});

t.test('the definitions in nats/ are the names in the code', async (t) => {
  const files = readTopologyFiles(join(projectRoot, 'nats'));
  t.same(
    new Set(files.streams.map((stream) => stream['name'])),
    new Set([...STREAMS, ...BUCKETS.map((name) => `KV_${name}`)]),
  );
  for (const kind of ['streams', 'buckets']) {
    for (const file of readdirSync(join(projectRoot, 'nats', kind))) {
      const { name } = JSON.parse(readFileSync(join(projectRoot, 'nats', kind, file), 'utf8')) as {
        name: string;
      };
      t.equal(`${name.replace(/^KV_/, '')}.json`, file, 'a definition is in the file of its name');
    }
  }
});

t.test('no stream that holds work may drop it', async (t) => {
  const { streams } = readTopologyFiles(join(projectRoot, 'nats'));
  for (const stream of streams) {
    if (stream['name'] === 'EVENTS') continue;
    if (stream['discard'] === 'new')
      t.ok(Number(stream['max_bytes']) > 0, `${String(stream['name'])} refuses when full`);
    else
      t.match(
        stream,
        { max_bytes: -1, max_msgs: -1, max_age: 0 },
        `${String(stream['name'])} has no limit to drop at`,
      );
  }
});

t.test('a namespace moves every name', async (t) => {
  const names = createNames('shop');
  const topology = planTopology(readTopologyFiles(join(projectRoot, 'nats')), { names, replicas: 3 });
  for (const { name, settings } of topology.streams) {
    t.match(name, /^(KV_)?shop_/);
    t.equal(settings['num_replicas'], 3);
    for (const subject of settings['subjects'] as string[]) t.match(subject, /^(shop\.|\$KV\.shop_)/);
  }
  for (const { stream, settings } of topology.consumers) {
    t.match(stream, /^shop_/);
    if (settings['filter_subject'] !== undefined) t.match(settings['filter_subject'], /^shop\./);
  }
  t.equal(names.stream('INTAKE'), 'shop_INTAKE');
  t.equal(createNames('trawl').stream('INTAKE'), 'INTAKE');
});
