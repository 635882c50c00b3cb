import { appendFileSync, closeSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { lastLines, openLog, rotateLog, sizeOf } from '../../src/local/log-file.ts';
import { temporaryFolder } from '../kit/nats-server.ts';

t.test('a full log is emptied under its writer, and one older part is kept', async (t) => {
  const file = join(temporaryFolder(t), 'worker-1.log');
  const descriptor = openLog(file);
  t.teardown(() => closeSync(descriptor));
  writeSync(descriptor, 'first\n');
  t.equal(rotateLog(file, 100), false);
  t.equal(rotateLog(file, 5), true);
  writeSync(descriptor, 'second\n');
  t.equal(readFileSync(file, 'utf8'), 'second\n', 'no hole where the first part was');
  t.equal(readFileSync(`${file}.1`, 'utf8'), 'first\n');
  rotateLog(file, 5);
  t.equal(readFileSync(`${file}.1`, 'utf8'), 'second\n');
  t.equal(sizeOf(file), 0);
});

t.test('last lines', async (t) => {
  const file = join(temporaryFolder(t), 'x.log');
  t.strictSame(lastLines(file, 3), [], 'no log yet');
  writeFileSync(file, 'old\n');
  const from = sizeOf(file);
  appendFileSync(file, 'a\n\nb\nc\n');
  t.strictSame(lastLines(file, 2), ['b', 'c']);
  t.strictSame(lastLines(file, 9, from), ['a', 'b', 'c'], 'only of this run');
  writeFileSync(file, 'd\n');
  t.strictSame(lastLines(file, 9, from), ['d'], 'emptied since');
  writeFileSync(file, `${'x'.repeat(100)}\n`.repeat(10_000));
  t.equal(lastLines(file, 1_000_000).length < 200, true, 'a limit on what is read');
});
