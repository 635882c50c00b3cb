import t from 'tap';
import { appendFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { Connection } from '../../src/nats/connect.ts';
import { openHandJournal } from '../../src/nats/hand-journal.ts';
import { quietLog, temporaryFolder } from '../kit/nats-server.ts';

const LEASE_MS = 1_000;
const reply = (n: number): string => `$JS.ACK.TASKS.p0.1.${n}.${n}.0.0`;

function open(path: string, now = 1_000_000) {
  const said: string[] = [];
  const nc = { publish: (subject: string) => void said.push(subject) } as unknown as Connection['nc'];
  return { said, ...openHandJournal({ nc }, { path, leaseMs: LEASE_MS, log: quietLog, now: () => now }) };
}

t.test('what a life had in hand is given back by the next one, once', async (t) => {
  const path = join(temporaryFolder(t), 'hands', 'worker-1');
  const first = open(path);
  t.equal(first.givenBack, 0);
  for (const n of [1, 2, 3]) first.note(reply(n));
  await turn();
  appendFileSync(`${path}.0`, '1000000 $JS.ACK.TASKS.p0.1.4'); // it died while it wrote
  const second = open(path);
  t.same(second.said, [1, 2, 3].map(reply));
  t.equal(second.givenBack, 3);
  t.equal(open(path).givenBack, 0, 'and not again');
});

t.test('not what may be somebody else’s by now, nor after a clean end', async (t) => {
  const path = join(temporaryFolder(t), 'worker-1');
  const first = open(path);
  first.note(reply(1));
  await turn();
  t.equal(open(path, 1_000_000 + LEASE_MS).givenBack, 0, 'its lease is over');
  const clean = open(path);
  clean.note(reply(2));
  await turn();
  clean.close();
  clean.close();
  t.same(readdirSync(join(path, '..')), []);
  t.equal(open(path).givenBack, 0);
});

t.test('two files take turns: the latest are kept, and the disk is not filled', async (t) => {
  const path = join(temporaryFolder(t), 'worker-1');
  const first = open(path);
  for (let batch = 0; batch < 5; batch += 1) {
    for (let n = 0; n < 10_000; n += 1) first.note(reply(batch * 10_000 + n));
    await turn();
  }
  const { said } = open(path);
  t.equal(said.length, 30_000);
  t.ok(said.includes(reply(49_999)) && !said.includes(reply(0)));
});

t.test('a full disk ends the notes, and nothing else', { skip: process.platform !== 'linux' }, async (t) => {
  const path = join(temporaryFolder(t), 'worker-1');
  const journal = open(path);
  symlinkSync('/dev/full', `${path}.1`); // what the second file is opened as
  for (let n = 0; n < 20_000; n += 1) journal.note(reply(n));
  await turn();
  journal.note(reply(20_000));
  await turn();
  journal.note(reply(20_001));
  await turn();
  rmSync(`${path}.1`); // it can be read without end
  t.equal(open(path).givenBack, 20_000, 'what fitted');
});
