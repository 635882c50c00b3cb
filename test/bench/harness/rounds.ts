/** Rounds of all contestants in turn, so that a slow minute of the machine hits them all; and what is told of them. */
import { median } from '../measure.ts';
import { cpuUs, rssMb } from './cpu.ts';

/** The processes whose cost is told: those that submit and work, and those that keep the data. */
export interface Team {
  readonly clients: () => readonly number[];
  readonly servers: () => readonly number[];
}

export interface Sample {
  readonly count: number;
  readonly ms: number;
  readonly clientCpuUs: number;
  readonly serverCpuUs: number;
  readonly clientMb: number;
  readonly serverMb: number;
}

export interface Row extends Sample {
  readonly contestant: string;
  readonly round: number;
}

export interface Contestant {
  readonly name: string;
  /** When what it has acknowledged is safe, in a few words. */
  readonly durability?: string;
  /** One round; throws when an outcome is missing or doubled. */
  readonly run: (round: number) => Promise<Sample>;
}

/** Runs `work`, which says how much was done and, where its clock is better than ours, how long it took. */
export async function measureTeam(
  team: Team,
  work: () => Promise<{ readonly count: number; readonly ms?: number }>,
): Promise<Sample> {
  const clientBefore = cpuUs(team.clients());
  const serverBefore = cpuUs(team.servers());
  const began = performance.now();
  const done = await work();
  return {
    count: done.count,
    ms: done.ms ?? performance.now() - began,
    clientCpuUs: cpuUs(team.clients()) - clientBefore,
    serverCpuUs: cpuUs(team.servers()) - serverBefore,
    clientMb: rssMb(team.clients()),
    serverMb: rssMb(team.servers()),
  };
}

/** The first round warms up and is left out. Each round begins with another contestant. */
export async function runRounds(
  contestants: readonly Contestant[],
  { rounds, warm = 1, say }: { rounds: number; warm?: number; say?: (line: string) => void },
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let round = 1 - warm; round <= rounds; round += 1) {
    const order = contestants.map((_, index) => contestants[(index + round + warm) % contestants.length]);
    for (const contestant of order) {
      if (!contestant) continue;
      const sample = await contestant.run(round);
      if (round < 1) continue;
      rows.push({ contestant: contestant.name, round, ...sample });
      say?.(`  round ${round}, ${contestant.name}: ${Math.round(perSecond(sample)).toLocaleString('en')}/s`);
    }
  }
  return rows;
}

export const perSecond = ({ count, ms }: Sample): number => (count / ms) * 1_000;

/** The median over rounds of a value of each. */
export function medianOf(rows: readonly Row[], contestant: string, value: (row: Row) => number): number {
  return median(rows.filter((row) => row.contestant === contestant).map(value));
}

/** How many times as fast `ours` is as `theirs`: the median of each round's own ratio. */
export function ratioOf(rows: readonly Row[], ours: string, theirs: string): number {
  const of = (name: string): Row[] => rows.filter(({ contestant }) => contestant === name);
  const ratios = of(ours).flatMap((row) => {
    const other = of(theirs).find(({ round }) => round === row.round);
    return other ? [perSecond(row) / perSecond(other)] : [];
  });
  return median(ratios);
}

export const HEADINGS = [
  'contestant',
  'safe',
  'per second',
  'min',
  'max',
  'ratio',
  'client CPU ms/1k',
  'server CPU ms/1k',
  'clients MB',
  'server MB',
];

/** Ratio: how many times as fast the first contestant is. */
export function tableOf(rows: readonly Row[], contestants: readonly Contestant[]): string[][] {
  const [first] = contestants;
  const whole = (value: number): string =>
    Number.isNaN(value) ? '-' : Math.round(value).toLocaleString('en');
  const tenth = (value: number): string => (Number.isNaN(value) ? '-' : value.toFixed(1));
  return contestants.map(({ name, durability = '' }) => {
    const rates = rows.filter(({ contestant }) => contestant === name).map(perSecond);
    const of = (value: (row: Row) => number): number => medianOf(rows, name, value);
    return [
      name,
      durability,
      whole(median(rates)),
      whole(Math.min(...rates)),
      whole(Math.max(...rates)),
      ratioOf(rows, first?.name ?? '', name).toFixed(2),
      tenth(of(({ clientCpuUs, count }) => clientCpuUs / count)),
      tenth(of(({ serverCpuUs, count }) => serverCpuUs / count)),
      whole(of(({ clientMb }) => clientMb)),
      whole(of(({ serverMb }) => serverMb)),
    ];
  });
}
