/**
 * Runs test files, some at a time, and ends with one line: N passed, N failed.
 *
 * Each file is a plain node process that prints TAP; unit tests share a few. The runner that comes with tap puts its
 * loaders into every process that a test starts, which more than doubles the start of each `trawl`, and there are
 * hundreds of them.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { measureIdleCores } from './idle-cores.ts';

const FILE_MAX_SECONDS = 180;
/** Beyond the limit that tap keeps by itself, for a process too busy to keep it. */
const PATIENCE_SECONDS = 10;

/** Files of unit tests are spread over so many processes. */
const UNIT_PROCESSES = 4;
const TOGETHER = join(import.meta.dirname, 'run-together.js');

interface TestProcess {
  readonly name: string;
  readonly args: readonly string[];
  /** It starts whole clusters, or computes all the time: none of those that run while a core idles. */
  readonly heavy: boolean;
}

interface Totals {
  pass: number;
  fail: number;
  skip: number;
}

/** As many as a small machine has cores: with more, tests wait for each other and take a busy machine for a fault. */
const JOBS = 2;
/** Many tests mostly wait, for a lease or a schedule: so many more of them run while a core has little to do. */
const EXTRA_JOBS = 6;
const IDLE_CORES = 0.3;
const LOOK_MS = 500;
/** They mostly wait, and longer than others: at the end of all tests everybody would wait for them. */
const LONG = ['schedule-restart', 'cli-egress', 'publisher-cluster', 'task-cluster', 'worker-pressure'];

const fixedJobs = process.env['JOBS'];
const waiting = planProcesses(process.argv.slice(2));
const sum: Totals = { pass: 0, fail: 0, skip: 0 };
const running = new Set<ChildProcess>();
let count = 0;

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    for (const child of running) child.kill('SIGKILL');
    process.exit(1);
  });

const fixed = Array.from({ length: Math.max(1, Number(fixedJobs ?? JOBS)) }, runNext);
await Promise.all(fixedJobs === undefined ? [...fixed, runMoreWhileIdle()] : fixed);
const skipped = sum.skip > 0 ? `, ${sum.skip} skipped` : '';
process.stdout.write(`${sum.pass} passed, ${sum.fail} failed${skipped}\n`);
process.exitCode = sum.fail > 0 || count === 0 ? 1 : 0;

async function runNext(): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) await runAndTell(next);
}

async function runMoreWhileIdle(): Promise<void> {
  const extra = new Set<Promise<void>>();
  while (waiting.length > 0) {
    const isIdle = (await measureIdleCores(LOOK_MS)) >= IDLE_CORES;
    const at = waiting.findIndex(({ heavy }) => !heavy);
    const [next] = isIdle && extra.size < EXTRA_JOBS && at !== -1 ? waiting.splice(at, 1) : [];
    if (!next) continue;
    const over = runAndTell(next).finally(() => extra.delete(over));
    extra.add(over);
  }
  await Promise.all(extra);
}

async function runAndTell(next: TestProcess): Promise<void> {
  const began = performance.now();
  const { words, totals, ok } = await runProcess(next);
  sum.pass += totals.pass;
  sum.skip += totals.skip;
  // A process that ends badly has failed, whatever it counted.
  sum.fail += ok ? 0 : Math.max(1, totals.fail);
  count += 1;
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  const line = `${ok ? 'ok' : 'not ok'} ${count} - ${next.name} # ${seconds} s`;
  process.stdout.write([...words, line, ''].join('\n'));
}

/**
 * Unit tests first, since they need a core from beginning to end; the others in the order in which they are given, but for
 * the long ones.
 */
function planProcesses(files: readonly string[]): TestProcess[] {
  const kindOf = (file: string): string => basename(dirname(file));
  const isLong = (file: string): boolean => LONG.includes(basename(file, '.js'));
  const isUnit = (file: string): boolean => kindOf(file) === 'unit';
  const units = files.filter(isUnit);
  const groups = Array.from({ length: Math.min(UNIT_PROCESSES, units.length) }, (_, group) =>
    units.filter((_file, place) => place % UNIT_PROCESSES === group),
  );
  return [
    ...groups.map((group) => ({ name: nameOf(group), args: [TOGETHER, ...group], heavy: true })),
    ...files
      .filter((file) => !isUnit(file))
      .sort((one, other) => Number(isLong(other)) - Number(isLong(one)))
      .map((file) => ({ name: file, args: [file], heavy: kindOf(file) === 'e2e' })),
  ];
}

function nameOf([first = '', ...others]: readonly string[]): string {
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

/** The words are all that the process says about what failed. */
async function runProcess({
  name,
  args,
}: TestProcess): Promise<{ words: string[]; totals: Totals; ok: boolean }> {
  const child = spawn(process.execPath, ['--enable-source-maps', ...args], {
    env: { ...process.env, TAP_TIMEOUT: String(FILE_MAX_SECONDS) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  const limit = setTimeout(() => child.kill('SIGKILL'), (FILE_MAX_SECONDS + PATIENCE_SECONDS) * 1_000);
  const closed = once(child, 'close') as Promise<[number | null, string | null]>;
  const words: string[] = [];
  let totals: Totals | undefined;
  let failing = false;
  for await (const line of createInterface({ input: child.stdout })) {
    failing ||= /^ *not ok /.test(line) && !/ # (skip|todo)/i.test(line);
    if (failing) words.push(line);
    if (/^ *\.\.\.$/.test(line)) failing = false;
    if (line.startsWith('# { total: '))
      totals = { pass: read(line, 'pass'), fail: read(line, 'fail'), skip: read(line, 'skip') };
  }
  const [code, signal] = await closed;
  clearTimeout(limit);
  running.delete(child);
  const ok = code === 0 && totals !== undefined && totals.fail === 0;
  if (!ok)
    words.push(`# ${name} ended with ${signal ?? code ?? 'nothing'}${totals ? '' : ', before its end'}`);
  return { words, totals: totals ?? { pass: 0, fail: 0, skip: 0 }, ok };
}

function read(line: string, name: string): number {
  return Number(new RegExp(`\\b${name}: (\\d+)`).exec(line)?.[1] ?? 0);
}
