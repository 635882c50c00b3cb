/**
 * Takes and gives back the lock of a home again and again. Inside, it creates a file that only one may create at a time;
 * who finds it there has proof that two were inside, and ends with 1. Ends holding the lock, as a crash does.
 */
import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tryLockHome } from '../../src/local/home-lock.ts';

const home = process.argv[2] ?? '';
const inside = join(home, 'inside');
const ROUNDS = 40;

for (let entered = 0; ;) {
  const lock = tryLockHome(home, 'down');
  if (!lock.held) continue;
  closeSync(openSync(inside, 'wx'));
  rmSync(inside);
  entered += 1;
  if (entered === ROUNDS) process.exit(0);
  lock.release();
}
