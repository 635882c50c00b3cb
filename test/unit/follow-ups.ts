/** How what a task has led to goes into the intake. */
import t from 'tap';
import type { FollowUp, TaskSpec } from '../../src/domain/task.ts';
import { createSubmitFollowUps } from '../../src/nats/follow-ups.ts';
import type { Outgoing, Publisher } from '../../src/nats/publisher.ts';
import { decode } from '../../src/wire/codec.ts';
import { createNames } from '../../src/wire/names.ts';

const parent = 'abcdefghijklmnopqrst-_';
const from: TaskSpec = { id: parent, run: 'r', scraper: 'shop', key: 'k', priority: 0, createdAt: 1 };

async function submit(followUps: readonly Omit<FollowUp, 'priority'>[], spec: TaskSpec): Promise<object[]> {
  const sent: object[] = [];
  const publisher = {
    publish({ subject, headers, payload }: Outgoing) {
      sent.push({ subject, headers, tasks: (decode(payload) as { key: string }[]).map(({ key }) => key) });
      return Promise.resolve({ kind: 'stored', seq: 1 });
    },
  };
  const submitAll = createSubmitFollowUps(
    () => Promise.resolve(publisher as unknown as Publisher),
    createNames('trawl'),
  );
  await submitAll(
    followUps.map((each) => ({ ...each, priority: 0 })),
    spec,
  );
  return sent;
}

t.test('a message for each scraper, budget and depth, with where it came from', async (t) => {
  const budget = { scope: 'shop', pagesPerRun: 3 };
  const followUps = [
    { scraper: 'shop', key: 'a', budget },
    { scraper: 'shop', key: 'b' },
    { scraper: 'other', key: 'c' },
    { scraper: 'shop', key: 'd', budget },
    { scraper: 'shop', key: 'next', continues: true },
  ];
  const subject = 'trawl.submit.shop.r';
  const origin = (depth: string): object => ({ 'Trawl-Depth': depth, 'Trawl-Parent': parent });
  t.same(await submit(followUps, { ...from, depth: 5 }), [
    { subject, headers: { ...origin('6'), 'Trawl-Budget': 'shop 3 -' }, tasks: ['a', 'd'] },
    { subject, headers: origin('6'), tasks: ['b'] },
    { subject: 'trawl.submit.other.r', headers: origin('6'), tasks: ['c'] },
    { subject, headers: origin('5'), tasks: ['next'] },
  ]);
});

t.test('the first page of a list is where the run started, and so are the others', async (t) => {
  const sent = await submit([{ scraper: 'shop', key: 'next', continues: true }], from);
  t.match(sent, [{ headers: { 'Trawl-Depth': '0', 'Trawl-Parent': parent } }]);
});
