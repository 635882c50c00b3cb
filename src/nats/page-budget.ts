/**
 * Page budgets of crawls, exact over all coordinators and through all their deaths.
 *
 * Every page that a budget grants has a mark of its own in the ledger's stream, under the run and the scraper whose
 * budget it is, and beside the marks stands how many there are, in all and by host. Marks and sums are written in one
 * atomic batch, by compare-and-set on the sum of all: of two who grant at the same time one is refused, and reads again. A
 * page that is asked for again (its message came again, the attempt that led to it was repeated, another page has the
 * same link) is found by its mark, and takes no second place. The sums only grow, so a view that is a moment old can
 * grant too much, which the server refuses, but never too little.
 *
 * This is done where links become tasks, and not in the workers: only there it is known which of them are new.
 */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../domain/failure.ts';
import type { PageBudget } from '../domain/task.ts';
import { decideClaims, type ClaimDecision, type Page } from '../policy/claim-pages.ts';
import type { Log } from '../telemetry/log.ts';
import type { Names } from '../wire/names.ts';
import { createCommitLane, type Change } from './commit-lane.ts';
import type { Connection } from './connect.ts';
import { readLast } from './read-last.ts';

export interface PageClaim {
  readonly run: string;
  readonly budget: PageBudget;
  readonly pages: readonly Page[];
}

export interface PageBudgets {
  /** The ids of those that have their place, from now on or since before. */
  claim(claim: PageClaim): Promise<ReadonlySet<string>>;
  close(): void;
}

export interface PageBudgetOptions {
  readonly names: Names;
  readonly ackTimeoutMs: number;
  readonly log: Log;
}

interface Grant extends Change {
  readonly marks: readonly Change[];
}

const ALL = 'all';
/** With as many hosts and their sum they fit into one question (1,024 subjects) and one batch (1,000 messages). */
const PAGES_MAX = 400;
const TRIES_MAX = 100;
const RETRY_MS = 10;

export function createPageBudgets(
  connection: Connection,
  { names, ackTimeoutMs, log }: PageBudgetOptions,
): PageBudgets {
  const stream = names.stream('LEDGER');
  const lines = new Map<string, Promise<unknown>>();
  const lane = createCommitLane<Grant>({
    ...{ connection, stream, ackTimeoutMs, log },
    batchMax: 1,
    marks: { of: (grants) => grants.flatMap(({ marks }) => marks), stored: () => undefined },
  });

  return {
    async claim({ pages, ...where }) {
      const held = new Set<string>();
      for (let start = 0; start < pages.length; start += PAGES_MAX) {
        const some = pages.slice(start, start + PAGES_MAX);
        for (const id of await inLine(where, () => claimSome(where, some))) held.add(id);
      }
      return held;
    },
    close: () => lane.close(),
  };

  /** One at a time: those of one process would only refuse each other. */
  async function inLine<T>({ run, budget }: Omit<PageClaim, 'pages'>, work: () => Promise<T>): Promise<T> {
    const name = names.page(run, budget.scope, ALL);
    const turn = (lines.get(name) ?? Promise.resolve()).then(work, work);
    lines.set(name, turn);
    try {
      return await turn;
    } finally {
      if (lines.get(name) === turn) lines.delete(name);
    }
  }

  async function claimSome(
    { run, budget }: Omit<PageClaim, 'pages'>,
    pages: readonly Page[],
  ): Promise<readonly string[]> {
    const subject = (mark: string): string => names.page(run, budget.scope, mark);
    const marks = [ALL, ...pages.map(({ id }) => pageMark(id)), ...new Set(pages.map(hostMarkOf))];
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const last = await readLast(connection, { stream, subjects: marks.map(subject) });
      const sumAt = (mark: string): number => readSum(last.get(subject(mark))?.data);
      const has = (id: string): boolean => last.has(subject(pageMark(id)));
      const decision = decideClaims(pages, budget, {
        run: sumAt(ALL),
        host: (host) => sumAt(hostMark(host)),
        has,
      });
      const held = [...pages.filter(({ id }) => has(id)), ...decision.granted].map(({ id }) => id);
      if (decision.granted.length === 0) return held;
      const outcome = await lane.commit({
        subject: subject(ALL),
        payload: writeSum(decision.run),
        expect: last.get(subject(ALL))?.seq ?? 0,
        marks: marksOf(decision, subject),
      });
      if (outcome.kind === 'failed') throw new Failure('UNAVAILABLE', outcome.reason);
      if (outcome.kind === 'stored') return held;
      await delay(RETRY_MS * Math.random());
    }
    throw new Failure('UNAVAILABLE', `others kept spending the page budget of run ${run}`);
  }
}

/** The marks of the pages come last, each with a number that nobody else has: they tell a stored batch from another's. */
function marksOf({ granted, hosts }: ClaimDecision, subject: (mark: string) => string): readonly Change[] {
  const own = randomBytes(12);
  return [
    ...[...hosts].map(([host, sum]) => ({ subject: subject(hostMark(host)), payload: writeSum(sum) })),
    ...granted.map(({ id }) => ({ subject: subject(pageMark(id)), payload: own })),
  ];
}

function pageMark(id: string): string {
  return `p-${id}`;
}

function hostMarkOf({ host }: Page): string {
  return hostMark(host);
}

/** A host may have characters that a subject may not. */
function hostMark(host: string): string {
  return `h-${createHash('sha256').update(host).digest('base64url').slice(0, 22)}`;
}

function writeSum(sum: number): Uint8Array {
  return Buffer.from(String(sum));
}

function readSum(data: Uint8Array | undefined): number {
  return data === undefined ? 0 : Number(Buffer.from(data).toString());
}
