import { spawn } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import {
  commandOf,
  identify,
  isAlive,
  marksFromPs,
  observeMarks,
  signalProcess,
  untilGone,
} from '../../src/local/process-identity.ts';

t.test('a process is its pid and its start', async (t) => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)'], { stdio: 'ignore' });
  t.teardown(() => child.kill('SIGKILL'));
  const gone = once(child, 'exit');
  const identity = identify(child.pid ?? 0);
  if (!identity) throw new Error('it does not run');
  t.ok(isAlive(identity));
  t.match(commandOf(identity.pid), 'setInterval');
  t.strictSame(observeMarks([identity.pid, identity.pid, -1, 0]).size, 1);

  t.notOk(isAlive({ ...identity, mark: 'another time' }));
  t.equal(
    signalProcess({ ...identity, mark: 'another time' }, 'SIGKILL'),
    false,
    'a stranger gets no signal',
  );
  t.strictSame(await untilGone([identity], 30), [identity], 'and still lives');

  t.equal(signalProcess(identity, 'SIGKILL'), true);
  await gone;
  t.strictSame(await untilGone([identity], 1_000), []);
  t.equal(signalProcess(identity, 'SIGTERM'), false);
  t.equal(identify(identity.pid), undefined);
  t.equal(commandOf(identity.pid), undefined);
});

t.test('one that ended and was not noticed yet has ended', async (t) => {
  const parent = spawn('sh', ['-c', 'true & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.teardown(() => parent.kill('SIGKILL'));
  const [text] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(text.toString());
  const marks = (): boolean[] => [observeMarks([pid]).has(pid), marksFromPs([pid]).has(pid)];
  const end = performance.now() + 5_000;
  while (marks().includes(true) && performance.now() < end)
    await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(marks(), [false, false]);
});

t.test('without /proc, ps tells the same', async (t) => {
  const marks = marksFromPs([process.pid, process.ppid]);
  t.match(marks.get(process.pid), /\d\d:\d\d:\d\d \d{4}$/);
  t.equal(marks.get(process.pid), marksFromPs([process.pid]).get(process.pid));
  t.equal(marksFromPs([2 ** 22 + 1]).size, 0);
});
