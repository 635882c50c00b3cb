/** A webhook sink against a receiver that fails, cuts the line after it took a batch, refuses, and goes away. */
import t from 'tap';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { temporaryFolder } from '../kit/nats-server.ts';
import { checkItems } from '../kit/sink-files.ts';
import { killHard, startSinkWorld } from '../kit/sink-world.ts';
import { startReceiver, type Receiver, type WebhookItem } from '../kit/webhook-receiver.ts';

const world = await startSinkWorld(t);
const folder = temporaryFolder(t);

const wordsOf = (url: string, run: string): string[] => [
  ...[
    '--type',
    'webhook',
    '--url',
    url,
    '--run',
    run,
    '--secret',
    'env:SECRET',
    '--batch',
    '100',
    '--path',
    folder,
  ],
];

function takenOf(receiver: Receiver): { key: string; n: number }[] {
  return [...receiver.taken.values()]
    .flatMap(({ items }): readonly WebhookItem[] => items)
    .map(({ item }) => ({ key: item.key ?? '', n: item.n ?? -1 }));
}

t.test(
  'failures, and batches that come again: every item once, under the same key',
  { timeout: 90_000 },
  async (t) => {
    const receiver = await startReceiver(t);
    receiver.answer = (_, number) => (number % 5 === 1 ? 500 : number % 5 === 3 ? 'cut' : 204);
    await world.settleMany('hook', { from: 0, to: 300 });
    const child = world.start('hook', ...wordsOf(receiver.url, 'hook'));
    await world.until('hook', ({ lag, checkpoint }) => lag === 0 && checkpoint.items === 600);
    checkItems(t, takenOf(receiver), 'hook', 300);
    const bodies = new Map<string, string>();
    for (const { headers, body } of receiver.requests) {
      const key = String(headers['idempotency-key']);
      t.equal(bodies.get(key) ?? body, body, 'the same key is the same body');
      bodies.set(key, body);
      const timestamp = String(headers['trawl-timestamp']);
      const hmac = createHmac('sha256', 'geheim').update(`${timestamp}.${body}`).digest('hex');
      t.equal(headers['trawl-signature'], `v1=${hmac}`, 'signed');
    }
    await killHard(child);
  },
);

t.test(
  'kill -9 after a batch was sent and before it was noted: it comes again as it was',
  { timeout: 90_000 },
  async (t) => {
    const receiver = await startReceiver(t);
    const all = ['killed', ...wordsOf(receiver.url, 'killed')];
    let child = world.start(...all);
    for (let round = 0; round < 4; round += 1) {
      const sent = new Promise<void>((resolve) => {
        receiver.answer = () => {
          resolve();
          child.kill('SIGKILL');
          return 200;
        };
      });
      await world.settleMany('killed', { from: round * 100, to: (round + 1) * 100 });
      await sent;
      await killHard(child);
      receiver.answer = () => 200;
      child = world.start(...all);
      await world.until(
        'killed',
        ({ lag, checkpoint }) => lag === 0 && checkpoint.items === (round + 1) * 200,
      );
    }
    checkItems(t, takenOf(receiver), 'killed', 400);
    t.ok(receiver.requests.length > receiver.taken.size, 'some came twice');
    await killHard(child);
  },
);

t.test(
  'what it refuses is found by halving and put aside; a receiver that is away blocks nobody',
  { timeout: 90_000 },
  async (t) => {
    const receiver = await startReceiver(t);
    receiver.answer = ({ items }) => (items.some(({ item }) => item.bad) ? 422 : 200);
    await world.settleMany('halves', { from: 0, to: 60 });
    await world.settle('halves', 'bad-1', [{ key: 'x', bad: true }]);
    await world.settleMany('halves', { from: 60, to: 80 });
    await world.deliver('halves', ...wordsOf(receiver.url, 'halves'));
    checkItems(t, takenOf(receiver), 'halves', 80);
    const aside = readFileSync(join(folder, 'halves.rejected.ndjson'), 'utf8').trim().split('\n');
    t.match(
      aside.map((line) => JSON.parse(line) as unknown),
      [{ run: 'halves', n: 0, problem: /refuses it with 422: told to/, item: { bad: true } }],
    );

    await receiver.stop();
    const child = world.start('halves', ...wordsOf(receiver.url, 'halves'));
    await world.settleMany('halves', { from: 80, to: 90 });
    const failing = await world.until('halves', ({ error, lag }) => error !== undefined && (lag ?? 0) > 0);
    t.match(failing.error?.message, /127\.0\.0\.1/);
    await world.deliver('free', '--type', 'stdout', '--run', 'halves'); // another sink is not held up
    await receiver.start();
    await world.until('halves', ({ error, lag }) => error === undefined && lag === 0);
    checkItems(t, takenOf(receiver), 'halves', 90);
    await killHard(child);
  },
);

t.test('stdout, and only some kinds', async (t) => {
  await world.settle('kinds', 'k1', [
    { kind: 'price', data: { p: 1 } },
    { p: 2 },
    { kind: 'note', data: 'n' },
  ]);
  const child = world.start(
    'out',
    '--type',
    'stdout',
    '--run',
    'kinds',
    '--kind',
    'price',
    '--kind',
    'note',
    '--until-empty',
  );
  const lines: unknown[] = [];
  if (child.stdout)
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)));
  t.same(await once(child, 'close'), [0, null]);
  t.match(lines, [
    { kind: 'price', n: 0, item: { p: 1 } },
    { kind: 'note', n: 2, item: 'n' },
  ]);
  t.equal(lines.length, 2);
});
