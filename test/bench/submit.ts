/**
 * Lists of URLs: submitted, each known exactly once, and put into a queue; then the same list again, which must yield as
 * many duplicates and no task. In rounds beside others, and one million of them at once, with the memory it takes.
 *
 *   node dist/test/bench/submit.js [--quick] [--rounds N] [--record] [--json FILE]
 */
import { openBench, target } from './harness/report.ts';
import { HEADINGS, measureTeam, ratioOf, runRounds, tableOf } from './harness/rounds.ts';
import type { Contestant, Sample } from './harness/rounds.ts';
import { checkShipped, natsVersion } from './harness/shipped.ts';
import { ownTaker, PASSES, startOtherTakers, type Pass, type Taker } from './harness/takers.ts';
import { startTrawl, type SyncName } from './harness/trawl-team.ts';
import { watchMemory, withTeardown, type MemoryCourse } from './stage.ts';

const bench = openBench('submit');
const COUNT = bench.size(50_000, 2_000);
/** For those who take one after the other; the rate decides, not the number. */
const FEW = bench.size(10_000, 200);
const MANY = bench.size(1_000_000, 5_000);

interface Million extends Sample {
  readonly name: string;
  readonly pass: Pass;
  readonly memory: MemoryCourse;
}

const PASS_SYNCS: readonly SyncName[] = ['second', 'always'];
const MANY_HEAD = [
  'contestant',
  'pass',
  'seconds',
  'per second',
  'taker MB at quarter, half, end, most',
  'server MB',
];

await withTeardown(async (t) => {
  const teams = {
    second: await startTrawl(t, 'second', { workers: 0 }),
    always: await startTrawl(t, 'always', { workers: 0 }),
  };
  const versions: Record<string, string> = natsVersion(teams.second.stage);
  const absent: string[] = [];
  const others = await startOtherTakers(t, versions, absent);
  const takers = [
    ownTaker('trawl, 1 s', teams.second, 'second'),
    ownTaker('trawl, always', teams.always, 'always'),
    ...others,
  ];
  const rounds = new Map<Pass, Awaited<ReturnType<typeof runRounds>>>();
  const byPass = {
    first: takers.map((each) => contestant(each, 'first')),
    again: takers.map((each) => contestant(each, 'again')),
  };
  for (const pass of PASSES) {
    bench.say(`${COUNT} URLs, ${pass}`);
    rounds.set(pass, await runRounds(byPass[pass], bench));
    if (pass === 'again') for (const taker of takers) for (const list of lists()) await taker.clear(list);
  }
  const millions: Million[] = [];
  const first = takers[0];
  if (first)
    for (const taker of [first, ...others.filter(({ oneByOne }) => !oneByOne)])
      millions.push(...(await takeMany(taker)));
  const of = (pass: Pass): Awaited<ReturnType<typeof runRounds>> => rounds.get(pass) ?? [];
  const ratio = (pass: Pass, ours: string, theirs: string): number => ratioOf(of(pass), ours, theirs);
  const course = millions.find(({ pass }) => pass === 'first')?.memory;
  bench.finish({
    tables: [
      ...PASSES.map((pass) => ({
        title: `${COUNT} URLs, ${pass === 'first' ? 'all of them new' : 'the same once more'}`,
        head: HEADINGS,
        rows: tableOf(of(pass), byPass[pass]),
      })),
      { title: `${MANY} URLs at once, one pass each`, head: MANY_HEAD, rows: millions.map(manyRow) },
    ],
    targets: [
      target('× the way of scrapy-redis', ratio('first', 'trawl, 1 s', 'scrapy-redis way'), { min: 2 }),
      target('× a Redis script per 1,000', ratio('first', 'trawl, 1 s', 'Redis script'), { min: 2 }),
      target('× INSERT … ON CONFLICT', ratio('first', 'trawl, 1 s', 'PostgreSQL insert'), { min: 2 }),
      target('with always, × INSERT … ON CONFLICT', ratio('first', 'trawl, always', 'PostgreSQL insert'), {
        min: 2,
      }),
      target('memory of the coordinator, end ÷ quarter', course && course.end / course.quarter, {
        max: 1.15,
      }),
    ],
    absent,
    checks: [
      ...(await Promise.all(PASS_SYNCS.map((name) => checkShipped(teams[name].stage, ['durability'])))),
      'the first time every URL is accepted, the second time every one is a duplicate, by the counters of the ledger',
    ],
    versions,
    settings: {
      trawl: 'one coordinator, one client; accepted in the ledger and put into the queue of tasks',
      'scrapy-redis way': `for each URL SADD of its SHA-1 fingerprint, and RPUSH if it is new, each answered; ${FEW} of them`,
      'Redis script': 'the same for 1,000 in one call; 4 calls at a time',
      postgresql: 'INSERT … ON CONFLICT DO NOTHING of 1,000, primary key is the URL; 4 at a time',
    },
    rows: [...PASSES.flatMap((pass) => of(pass).map((row) => ({ pass, ...row }))), ...millions],
  });
});

function manyRow({ name, pass, ms, count, memory, serverMb }: Million): string[] {
  const { quarter, half, end, most } = memory;
  const rate = Math.round((count / ms) * 1_000).toLocaleString('en');
  return [
    name,
    pass,
    (ms / 1_000).toFixed(1),
    rate,
    `${quarter}, ${half}, ${end}, ${most}`,
    String(Math.round(serverMb)),
  ];
}

function* lists(): Generator<string> {
  for (let round = 1 - bench.warm; round <= bench.rounds; round += 1) yield `list-${round}`;
}

function contestant(taker: Taker, pass: Pass): Contestant {
  return {
    name: taker.name,
    durability: taker.safe,
    run: (round) =>
      measureTeam(taker, async () => {
        const count = taker.oneByOne ? FEW : COUNT;
        await taker.submit(`list-${round}`, pass, count);
        return { count };
      }),
  };
}

async function takeMany(taker: Taker): Promise<Million[]> {
  const taken: Million[] = [];
  for (const pass of PASSES) {
    // The coordinator of ours, the one process of the others.
    const endWatch = watchMemory(taker.clients()[1] ?? taker.clients()[0] ?? 0);
    const sample = await measureTeam(taker, async () => {
      await taker.submit('many', pass, MANY);
      return { count: MANY };
    });
    taken.push({ name: taker.name, pass, memory: endWatch(), ...sample });
    bench.say(`  ${MANY} URLs, ${taker.name}, ${pass}: ${(sample.ms / 1_000).toFixed(1)} s`);
  }
  return taken;
}
