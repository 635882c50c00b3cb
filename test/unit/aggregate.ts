import t from 'tap';
import { createAggregate, NO_KIND, OTHERS, type Grouping } from '../../src/policy/aggregate.ts';
import type { LedgerRecord } from '../../src/domain/task.ts';
import { recordOf } from '../kit/stub-coordinator.ts';

const fault = { at: 1, code: 'NETWORK', message: 'm', worker: 'w', ms: 1 };
const records: readonly LedgerRecord[] = [
  recordOf('a', 'r', { items: [{ kind: 'price', data: { p: 1 } }, { x: 1 }, { kind: 'price', data: 2 }] }),
  { ...recordOf('b', 'r', { items: ['text'] }), faults: [fault, fault] },
  recordOf('c', 'r', { error: 'too slow' }),
  recordOf('d', 'r', { cancelled: 'enough' }),
  recordOf('e', 'r', 'queued'),
];

function groupsBy(by: Grouping): unknown {
  const aggregate = createAggregate(by);
  for (const record of records) aggregate.add(record);
  return aggregate.groups();
}

t.test('sums in groups', async (t) => {
  t.match(groupsBy('scraper'), [
    { group: 'prices', tasks: 5, done: 2, dead: 1, cancelled: 1, queued: 1, items: 4, bytes: 20, errors: 2 },
  ]);
  t.match(groupsBy('host'), [{ group: 'shop.example', tasks: 5 }]);
  t.match(groupsBy('status'), [
    { group: 'done', tasks: 2, items: 4 },
    { group: 'cancelled', tasks: 1 },
    { group: 'dead TIMEOUT', tasks: 1 },
    { group: 'queued', tasks: 1 },
  ]);
  t.match(groupsBy('kind'), [
    { group: NO_KIND, tasks: 2, items: 2, bytes: 13, errors: 2 },
    { group: 'price', tasks: 1, items: 2, bytes: 8 },
  ]);
});

t.test('groups without end do not take memory without end', async (t) => {
  const aggregate = createAggregate('host', { groupsMax: 3 });
  for (let n = 0; n < 10; n += 1) {
    const record = recordOf('a', 'r', { items: [] });
    aggregate.add({ ...record, spec: { ...record.spec, url: `https://h${n}.example/` } });
  }
  t.match(aggregate.groups().at(0), { group: OTHERS, tasks: 7 });
  t.equal(aggregate.groups().length, 4);
  t.match(aggregate.total(), { tasks: 10 });
});
