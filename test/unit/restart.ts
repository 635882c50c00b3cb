import t from 'tap';
import { decideRestart, type Exit } from '../../src/policy/restart.ts';

const limits = { baseMs: 200, maxMs: 10_000, stableMs: 60_000 };
const crash: Exit = { ranMs: 50, code: 1, signal: null };
const afterAnHour: Exit = { ranMs: 3_600_000, code: 1, signal: null };

t.test('the wait doubles with each exit in a row, up to the limit', async (t) => {
  const waits = [1, 2, 3, 6, 7, 30].map((count) => delayAfter(Array.from({ length: count }, () => crash)));
  t.strictSame(waits, [200, 400, 800, 6_400, 10_000, 10_000]);
});

t.test('a stable run starts the count anew', async (t) => {
  t.equal(delayAfter([crash, crash, crash, afterAnHour]), 200);
  t.equal(delayAfter([crash, crash, afterAnHour, crash]), 400);
});

t.test('jitter takes away at most half', async (t) => {
  for (let round = 0; round < 1_000; round += 1) {
    const exits = Array.from({ length: 1 + Math.floor(Math.random() * 12) }, () => crash);
    const full = delayAfter(exits);
    const decision = decideRestart({ kind: 'actor', exits, random: Math.random() }, limits);
    if (decision.action !== 'restart') throw new Error('a crash is restarted');
    if (decision.delayMs < full / 2 || decision.delayMs > full) t.fail(`${decision.delayMs} of ${full}`);
  }
  t.pass('1000 waits between half and full');
});

t.test('what no restart can cure', async (t) => {
  const last = (exit: Partial<Exit>): readonly Exit[] => [crash, { ...crash, ...exit }];
  const decide = (kind: 'actor' | 'server', exit: Partial<Exit>) =>
    decideRestart({ kind, exits: last(exit), random: 0 }, limits);
  t.strictSame(decide('actor', { code: 2 }), { action: 'give-up', reason: 'misused' });
  t.strictSame(decide('actor', { code: 127 }), { action: 'give-up', reason: 'not-startable' });
  t.strictSame(decide('server', { code: 127 }), { action: 'give-up', reason: 'not-startable' });
  t.match(decide('server', { code: 2 }), { action: 'restart' }, 'a panic of a Go program');
  t.match(decide('actor', { code: 0 }), { action: 'leave', reason: 'ended' }, 'it was drained or stopped');
  t.match(decide('server', { code: 0 }), { action: 'restart' }, 'nobody asks a server to end');
  t.match(decide('actor', { code: null, signal: 'SIGKILL' }), { action: 'restart', reason: 'repeated' });
});

function delayAfter(exits: readonly Exit[]): number {
  const decision = decideRestart({ kind: 'actor', exits, random: 1 }, limits);
  return decision.action === 'restart' ? decision.delayMs : Number.NaN;
}
