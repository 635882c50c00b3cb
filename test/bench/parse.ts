/**
 * Parse a page and take its values out, in one thread, one page after the other: this project's two ways beside other
 * parsers that are installed in test/bench/node_modules. All must find the same, or are marked.
 * Per second of CPU time, so that others at work on the machine matter less. The pages of the demo site are made to be
 * read alike; parse-real.ts has pages that nobody made for this.
 *
 *   node dist/test/bench/parse.js [--quick] [--rounds N] [--record] [--json FILE]
 */
import { fork, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { renderProductPage } from '../../src/demo-site/product-page.ts';
import { createProducts } from '../../src/demo-site/products.ts';
import { openBench } from './harness/report.ts';
import { median } from './measure.ts';
import { breakHtml, loadContestants } from './parse-contestants.ts';
import { measureReal, type RealFindings } from './parse-real.ts';
import type { Contestant } from './parse-wanted.ts';
import { withTeardown } from './stage.ts';

/** Given to the processes that this one starts. */
const child = process.env['BENCH_PARSER'];
const bench = openBench('parse');
const { rounds } = bench;
const sliceMs = bench.size(200, 20);
// What V8 needs until it knows the code.
const warmMs = bench.size(1_500, 20);
const PAGES = 100;
const STEP = 10;

interface Ask {
  readonly pages: PageSet;
  readonly forMs: number;
  /** What it finds is asked once. */
  readonly isFirst: boolean;
}

interface Answer {
  readonly perSecond: number;
  readonly found: string;
}

interface Row {
  readonly pages: string;
  readonly name: string;
  readonly perSecond: number;
  readonly found: 'same' | 'differs';
}

const products = createProducts({ seed: 1, count: 1_000 });
const good = Array.from({ length: PAGES }, (_, index) => {
  const product = products.find(index + 1);
  // As it comes from the network: one flat text.
  return Buffer.from(product ? renderProductPage(products, product) : '').toString();
});
const PAGE_SETS = ['closed page', 'product page', 'broken page'] as const;
type PageSet = (typeof PAGE_SETS)[number];
const sets: Readonly<Record<PageSet, readonly string[]>> = {
  // Every list item and paragraph has its end tag: all parsers should agree on it.
  'closed page': good.map((html) => html.replaceAll('&hellip;\n', '&hellip;</p></li>\n')),
  'product page': good,
  'broken page': good.map(breakHtml),
};
if (child !== undefined) serve(await loadContestants());
else await measureAll(await loadContestants());

/** A process of its own for each: what V8 learns from one parser slows down another. */
function serve(contestants: readonly Contestant[]): void {
  const mine = contestants.find(({ name }) => name === child);
  process.on('message', ({ pages, forMs, isFirst }: Ask) => {
    const htmls = sets[pages];
    if (!mine) return;
    const perSecond = sample(mine, htmls, forMs);
    process.send?.({ perSecond, found: isFirst ? hash(mine, htmls) : '' } satisfies Answer);
  });
}

async function measureAll(contestants: readonly Contestant[]): Promise<void> {
  const rows: Row[] = [];
  const started = contestants.map(({ name }) => ({
    name,
    process: fork(process.argv[1] ?? '', [], { env: { ...process.env, BENCH_PARSER: name } }),
  }));
  try {
    for (const pages of PAGE_SETS) {
      const found = new Map<string, string>();
      const samples = new Map<string, number[]>();
      for (let round = -1; round < rounds; round += 1) {
        for (const { name, process: each } of started) {
          const isFirst = round === -1;
          const answer = await ask(each, { pages, isFirst, forMs: isFirst ? warmMs : sliceMs });
          if (isFirst) found.set(name, answer.found);
          else samples.set(name, [...(samples.get(name) ?? []), answer.perSecond]);
        }
      }
      const wanted = found.get(contestants[0]?.name ?? '');
      for (const { name } of contestants) {
        const perSecond = Math.round(median(samples.get(name) ?? []));
        rows.push({ pages, name, perSecond, found: found.get(name) === wanted ? 'same' : 'differs' });
      }
    }
  } finally {
    for (const { process: each } of started) each.kill();
  }
  await withTeardown(async (t) => print(rows, await measureReal(t, bench)));
}

async function ask(to: ChildProcess, what: Ask): Promise<Answer> {
  to.send(what);
  const [answer] = (await once(to, 'message')) as [Answer];
  return answer;
}

function hash({ extract }: Contestant, htmls: readonly string[]): string {
  const sum = createHash('sha256');
  for (const html of htmls) sum.update(JSON.stringify(extract(html)));
  return sum.digest('hex');
}

function sample({ extract }: Contestant, htmls: readonly string[], forMs: number): number {
  const start = process.cpuUsage();
  let count = 0;
  let usedUs = 0;
  while (usedUs < forMs * 1_000) {
    for (let each = 0; each < STEP; each += 1) extract(htmls[(count + each) % htmls.length] ?? '');
    count += STEP;
    const { user, system } = process.cpuUsage(start);
    usedUs = user + system;
  }
  return (count / usedUs) * 1e6;
}

function print(rows: readonly Row[], real: RealFindings): void {
  const [head = [], ...body] = table(rows);
  bench.finish({
    tables: [{ title: 'made pages, one thread, one page after the other', head, rows: body }, ...real.tables],
    targets: real.targets,
    absent: real.absent,
    checks: ['`finds` says whether the values are those of the first row, for every made page'],
    versions: {},
    settings: {
      'made pages': `${PAGES} of ${Math.round((good[0]?.length ?? 0) / 1000)} KB, 5 fields and 20 items of 5`,
      rate: 'per second of CPU time; a process for each parser',
      ...real.settings,
    },
    rows: [...rows, ...real.rows],
  });
}

function table(all: readonly Row[]): string[][] {
  const base = (pages: string): number => all.find((row) => row.pages === pages)?.perSecond ?? NaN;
  return [
    ['pages', 'parser', 'per CPU second', 'µs', 'one pass is × as fast', 'finds'],
    ...all.map(({ pages, name, perSecond, found }) => [
      pages,
      name,
      perSecond.toLocaleString('en'),
      Math.round(1e6 / perSecond).toLocaleString('en'),
      (base(pages) / perSecond).toFixed(1),
      found,
    ]),
  ];
}
