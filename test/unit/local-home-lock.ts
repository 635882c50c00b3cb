import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readLockHolder, tryLockHome } from '../../src/local/home-lock.ts';
import { projectRoot } from '../../src/project-root.ts';
import { temporaryFolder } from '../kit/nats-server.ts';

t.test('one holder at a time', async (t) => {
  const home = temporaryFolder(t);
  const first = tryLockHome(home, 'supervisor');
  t.match(tryLockHome(home, 'down'), { held: false, holder: { pid: process.pid, role: 'supervisor' } });
  t.match(readLockHolder(home), { pid: process.pid });
  if (first.held) first.release();
  t.equal(readLockHolder(home), undefined);
  const second = tryLockHome(home, 'down');
  t.equal(second.held, true);
  if (first.held) first.release();
  t.match(
    readLockHolder(home),
    { role: 'down' },
    'a release that comes twice takes nothing from the next holder',
  );
});

t.test('the lock of a process that is gone, and a damaged one, are overtaken', async (t) => {
  const home = temporaryFolder(t);
  const text = JSON.stringify({ pid: process.pid, mark: 'another time', role: 'supervisor', token: 'x' });
  writeFileSync(join(home, 'lock.3'), text);
  t.equal(tryLockHome(home, 'clean').held, true);
  t.strictSame(readdirSync(home), ['lock.4']);
  writeFileSync(join(home, 'lock.4'), '{');
  t.equal(tryLockHome(home, 'clean').held, true);
});

t.test('contenders that crash while they hold it', async (t) => {
  const home = temporaryFolder(t);
  const script = join(projectRoot, 'dist/test/kit/lock-contender.js');
  const contenders = [1, 2, 3, 4, 5, 6].map(() =>
    spawn(process.execPath, [script, home], { stdio: 'inherit' }),
  );
  t.teardown(() => contenders.map((contender) => contender.kill('SIGKILL')));
  const codes = await Promise.all(contenders.map((contender) => once(contender, 'exit')));
  t.strictSame(codes, Array(6).fill([0, null]), 'never two inside');
});
