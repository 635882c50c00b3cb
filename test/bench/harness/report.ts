/** What a bench says at its end: tables for a person, everything as JSON, and its section of RESULTS.md when asked. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../../../src/project-root.ts';
import { describeMachine, formatTable, type Machine } from '../measure.ts';
import { replaceSection } from './results-file.ts';

export interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** What has to be reached, and what was. Undefined `got`: nobody to compare with. */
export interface Target {
  readonly what: string;
  readonly want: string;
  readonly got: string | undefined;
  readonly met: boolean | undefined;
}

export interface Findings {
  readonly tables: readonly Table[];
  readonly targets: readonly Target[];
  /** Who could not take part, and why. */
  readonly absent: readonly string[];
  /** What was looked at after the rounds, in words. */
  readonly checks: readonly string[];
  readonly versions: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, string>>;
  /** What the numbers are made from, where it is not the usual rounds. */
  readonly samples?: string;
  /** Every sample as it was taken. */
  readonly rows: readonly object[];
}

export interface Report extends Findings {
  readonly what: string;
  readonly at: string;
  readonly quick: boolean;
  readonly rounds: number;
  readonly seconds: number;
  readonly machine: Machine;
}

export interface Bench {
  readonly quick: boolean;
  readonly rounds: number;
  /** Rounds before the first that counts. */
  readonly warm: number;
  /** The one for a real measurement, the other only to see that it runs. */
  size(full: number, quick: number): number;
  say(line: string): void;
  finish(findings: Findings): void;
}

const ROUNDS = 5;

export function openBench(what: string): Bench {
  const { values: flags } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      record: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      json: { type: 'string' },
    },
  });
  const { quick, record } = flags;
  const rounds = Number(flags.rounds ?? (quick ? 1 : ROUNDS));
  const machine = describeMachine();
  const at = new Date().toISOString();
  return {
    quick,
    rounds,
    warm: quick ? 0 : 1,
    size: (full, small) => (quick ? small : full),
    say: (line) => void process.stderr.write(`${line}\n`),
    finish(findings) {
      const seconds = Math.round(performance.now() / 1_000);
      const targets = quick
        ? findings.targets.map((each) => ({ ...each, met: undefined }))
        : findings.targets;
      const report: Report = { what, at, quick, rounds, seconds, machine, ...findings, targets };
      const file = flags.json ?? join(projectRoot, '.cache/bench', `${what}.json`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${JSON.stringify(report, undefined, 2)}\n`);
      process.stdout.write(`${plainText(report)}\nraw rows: ${file}\n`);
      if (record && !quick) recordResults(report);
    },
  };
}

/** One that is reached when the number is large enough, or small enough. */
export function target(
  what: string,
  got: number | undefined,
  limit: { min: number } | { max: number },
): Target {
  const [sign, bound] = 'min' in limit ? (['≥', limit.min] as const) : (['≤', limit.max] as const);
  const known = got !== undefined && Number.isFinite(got);
  const show = (value: number): string =>
    value >= 100 ? Math.round(value).toLocaleString('en') : String(Math.round(value * 100) / 100);
  return {
    what,
    want: `${sign} ${show(bound)}`,
    got: known ? show(got) : undefined,
    met: known ? ('min' in limit ? got >= limit.min : got <= limit.max) : undefined,
  };
}

function plainText(report: Report): string {
  const { tables, targets, absent, checks } = report;
  return [
    `\n${report.what}${report.quick ? ' (quick: it runs; the numbers mean nothing)' : ''}`,
    describe(report),
    ...tables.map(({ title, head, rows }) => `\n${title}\n${formatTable([head, ...rows])}`),
    ...(targets.length > 0 ? [`\n${formatTable([TARGET_HEAD, ...targets.map(targetRow)])}`] : []),
    '',
    ...absent.map((line) => `not here: ${line}`),
    ...checks.map((line) => `checked: ${line}`),
  ].join('\n');
}

const TARGET_HEAD = ['to reach', 'wanted', 'measured', ''];

function targetRow({ what, want, got, met }: Target): string[] {
  return [what, want, got ?? '-', met === undefined ? 'not judged' : met ? 'reached' : 'MISSED'];
}

function describe({ machine, versions, settings, rounds, seconds, samples }: Report): string {
  const list = (entries: Readonly<Record<string, string>>): string =>
    Object.entries(entries)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ');
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB, ${machine.system}, load ${machine.loadAverage} at the start`,
    `node ${machine.node}, nats.js ${machine.natsJs}${Object.keys(versions).length > 0 ? `, ${list(versions)}` : ''}`,
    ...Object.entries(settings).map(([name, value]) => `${name}: ${value}`),
    `${samples ?? `medians of ${rounds} rounds in turn`}; the whole took ${seconds} s`,
  ].join('\n');
}

/** What stands there until the first result does. */
const NOT_YET = /_No full run has been recorded yet\._\n/;

function recordResults(report: Report): void {
  const file = join(projectRoot, 'test/bench/RESULTS.md');
  const { tables, targets, absent, checks } = report;
  const text = [
    `## ${report.what}`,
    `${report.at.slice(0, 16).replace('T', ' ')} UTC`,
    describe(report)
      .split('\n')
      .map((line) => `- ${line}`)
      .join('\n'),
    ...tables.map(({ title, head, rows }) => `**${title}**\n\n${markdown([head, ...rows])}`),
    ...(targets.length > 0 ? [markdown([TARGET_HEAD, ...targets.map(targetRow)])] : []),
    [...absent.map((line) => `- Not here: ${line}`), ...checks.map((line) => `- Checked: ${line}`)].join(
      '\n',
    ),
  ].filter((part) => part !== '');
  const before = readFileSync(file, 'utf8').replace(NOT_YET, '');
  writeFileSync(file, replaceSection(before, report.what, text.join('\n\n')));
}

function markdown(rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), line(head.map((_, column) => (column === 0 ? '---' : '---:'))), ...body.map(line)].join(
    '\n',
  );
}
