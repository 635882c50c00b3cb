/** Sinks whose ledger is made anew, is another one, or comes back; and sinks that were forgotten. */
import t from 'tap';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../kit/nats-server.ts';
import { makeStreams } from '../kit/short-leases.ts';
import { checkItems, ndjsonOf, type Line } from '../kit/sink-files.ts';
import { killHard, startSinkWorld } from '../kit/sink-world.ts';
import { startReceiver } from '../kit/webhook-receiver.ts';

const first = await startSinkWorld(t);
const second = await startSinkWorld(t);
const folder = temporaryFolder(t);

const itemsOf = (lines: readonly Line[], run: string): Line['item'][] =>
  lines.filter((line) => line.run === run).map(({ item }) => item);

t.test('files: another cluster begins at its start, the old one goes on, and nothing is cut', async (t) => {
  const out = join(folder, 'files');
  const words = ['archive', '--type', 'ndjson', '--path', out];
  await first.settleMany('old', { from: 0, to: 50 });
  await first.deliver(...words);
  await second.settleMany('new', { from: 0, to: 10 });
  await second.deliver(...words);
  checkItems(t, itemsOf(ndjsonOf(out, '.ndjson'), 'new'), 'new', 10);
  checkItems(t, itemsOf(ndjsonOf(out, '.ndjson'), 'old'), 'old', 50);
  t.same(readdirSync(out).sort(), [
    'archive-000001.ndjson',
    'archive-000002.ndjson',
    'archive.position.json',
  ]);

  await first.server.kill('SIGKILL');
  await first.server.start();
  await first.settleMany('old', { from: 50, to: 60 });
  await first.deliver(...words);
  checkItems(t, itemsOf(ndjsonOf(out, '.ndjson'), 'old'), 'old', 60);
  await first.deliver(...words);
  await second.deliver(...words);
  t.equal(ndjsonOf(out, '.ndjson').length, 140, 'a server that starts again is the same ledger');
});

t.test('a file sink that was forgotten starts over, and keeps what it has delivered apart', async (t) => {
  const out = join(folder, 'forgotten');
  const words = ['again', '--type', 'ndjson', '--path', out];
  await first.settleMany('forgotten', { from: 0, to: 20 });
  await first.deliver(...words, '--run', 'forgotten');
  t.match(await first.trawl.run('sinks', 'rm', 'again'), { code: 0 });
  const { code, stderr } = await first.trawl.run('sink', ...words, '--run', 'forgotten', '--until-empty');
  t.equal(code, 0, stderr);
  t.match(stderr, /sink\.started-over.*forgotten/);
  checkItems(t, itemsOf(ndjsonOf(out, '.ndjson'), 'forgotten'), 'forgotten', 20);
  const before = readdirSync(out).find((file) => file.startsWith('again.before-'));
  checkItems(t, itemsOf(ndjsonOf(join(out, before ?? ''), '.ndjson'), 'forgotten'), 'forgotten', 20);
});

t.test('a webhook: batches of another cluster, and after it was forgotten, have other keys', async (t) => {
  const receiver = await startReceiver(t);
  const words = ['hook', '--type', 'webhook', '--url', receiver.url, '--run', 'hook', '--path', folder];
  const keys: string[][] = [];
  const deliver = async (world: typeof first): Promise<void> => {
    const from = receiver.requests.length;
    await world.deliver(...words);
    keys.push(receiver.requests.slice(from).map(({ headers }) => String(headers['idempotency-key'])));
  };
  await first.settleMany('hook', { from: 0, to: 30 });
  await second.settleMany('hook', { from: 0, to: 30 });
  await deliver(first);
  await deliver(second);
  t.match(await second.trawl.run('sinks', 'rm', 'hook'), { code: 0 });
  await deliver(second);
  t.ok(keys.every((some) => some.length > 0));
  t.equal(new Set(keys.flat()).size, keys.flat().length, 'none twice');
  t.equal([...receiver.taken.values()].flatMap(({ items }) => items).length, 180);
});

t.test('the ledger is made anew while the sink runs', { timeout: 60_000 }, async (t) => {
  const out = join(folder, 'anew');
  const child = second.start('anew', '--type', 'ndjson', '--path', out, '--run', 'anew');
  await second.settleMany('anew', { from: 0, to: 30 });
  await second.until('anew', ({ lag, checkpoint }) => lag === 0 && checkpoint.items === 60);
  await second.connection.jsm.streams.delete(second.names.stream('LEDGER'));
  await makeStreams(second.connection);
  await second.settleMany('anew', { from: 100, to: 105 });
  await second.until('anew', ({ lag, checkpoint }) => lag === 0 && checkpoint.items === 10);
  const items = itemsOf(ndjsonOf(out, '.ndjson'), 'anew');
  t.equal(items.length, 70);
  t.equal(items.filter(({ key }) => /^anew-10[0-4]$/.test(key)).length, 10);
  await killHard(child);
});
