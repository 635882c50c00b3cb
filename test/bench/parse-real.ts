/**
 * The parsers on real pages: how many they read as parse5 does, which follows the standard, and how fast. Compared are
 * links with their texts, headings, table cells and list items, each kind as a whole.
 */
import { join } from 'node:path';
import type { Teardown } from '../kit/nats-server.ts';
import { hasCorpus, loadCorpus } from './parse-corpus.ts';
import { KINDS, type Sums } from './parse-real-process.ts';
import { JUDGE, loadRealContestants, ONE_PASS } from './parse-real-wanted.ts';
import { startPeer, type Peer } from './harness/peer.ts';
import { target, type Bench, type Table, type Target } from './harness/report.ts';
import { median } from './measure.ts';

export interface RealRow {
  readonly pages: 'real page';
  readonly name: string;
  readonly perSecond: number;
  /** Pages on which all is the same, and of each kind. */
  readonly same: number;
  readonly sameOf: readonly number[];
}

export interface RealFindings {
  readonly tables: readonly Table[];
  readonly targets: readonly Target[];
  readonly absent: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
  readonly rows: readonly RealRow[];
}

export async function measureReal(t: Teardown, bench: Bench): Promise<RealFindings> {
  const contestants = await loadRealContestants();
  if (!hasCorpus() || contestants[0]?.name !== JUDGE)
    return {
      ...{ tables: [], targets: [], rows: [], settings: {} },
      absent: ['real pages: htmlparser-benchmark or cheerio is not to be had'],
    };
  const most = bench.size(Number.POSITIVE_INFINITY, 100);
  const htmls = loadCorpus(most);
  const pages = htmls.length;
  const rows: RealRow[] = [];
  const peers: { readonly name: string; readonly peer: Peer; readonly samplesUs: number[] }[] = [];
  for (const { name } of contestants)
    peers.push({
      name,
      peer: await startPeer(t, join(import.meta.dirname, 'parse-real-process.js'), { name, pages }),
      samplesUs: [],
    });
  bench.say(`${pages} real pages`);
  const findings = new Map<string, readonly Sums[]>();
  // It warms up as well.
  for (const { name, peer } of peers) findings.set(name, await peer.call<Sums[]>('judge'));
  for (let round = 1; round <= bench.rounds; round += 1)
    for (const { peer, samplesUs } of peers) samplesUs.push(await peer.call<number>('run'));
  const wanted = findings.get(JUDGE) ?? [];
  for (const { name, samplesUs } of peers) {
    const found = findings.get(name) ?? [];
    const isSame = (page: number, kind: number): boolean =>
      found[page] !== undefined && found[page][kind] === wanted[page]?.[kind];
    const count = (is: (page: number) => boolean): number => htmls.filter((_, page) => is(page)).length;
    rows.push({
      ...{ pages: 'real page', name, perSecond: (pages / median(samplesUs)) * 1e6 },
      same: count((page) => KINDS.every((_, kind) => isSame(page, kind))),
      sameOf: KINDS.map((_, kind) => count((page) => isSame(page, kind))),
    });
  }
  const bytes = htmls.reduce((sum, { length }) => sum + length, 0);
  return { ...show(rows, { pages, bytes }), rows, absent: [] };
}

function show(
  rows: readonly RealRow[],
  { pages, bytes }: { pages: number; bytes: number },
): Pick<RealFindings, 'tables' | 'targets' | 'settings'> {
  const ours = rows.find(({ name }) => name === ONE_PASS);
  const percent = (count: number): string => ((count / pages) * 100).toFixed(1);
  const others = rows.filter(({ name }) => name !== JUDGE && !name.startsWith('trawl'));
  return {
    tables: [
      {
        title: `${pages} real pages of ${Math.round(bytes / pages / 1_000)} KB: share that is read as by parse5, %`,
        head: [
          'parser',
          'all',
          'links',
          'headings',
          'cells',
          'list items',
          'per CPU second',
          'one pass is × as fast',
        ],
        rows: rows.map(({ name, same, sameOf, perSecond }) => [
          name,
          percent(same),
          ...sameOf.map(percent),
          Math.round(perSecond).toLocaleString('en'),
          ((ours?.perSecond ?? NaN) / perSecond).toFixed(1),
        ]),
      },
    ],
    targets: [
      target(
        'real pages: × the fastest other parser',
        (ours?.perSecond ?? NaN) / Math.max(...others.map(({ perSecond }) => perSecond)),
        { min: 1 },
      ),
      target(
        'real pages: pages read as by parse5, × the best of the other fast ones',
        (ours?.same ?? NaN) / Math.max(...others.map(({ same }) => same)),
        { min: 1 },
      ),
    ],
    settings: {
      'real pages':
        'articles and front pages of sites as they were in 2013, from htmlparser-benchmark; links with texts, headings, table cells and list items, all of each; scripts are off',
    },
  };
}
