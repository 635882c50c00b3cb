/** `stats`: the counters of a run, or of everything, and the workers; from counters and what the workers tell, never a scan. */
import * as v from 'valibot';
import type { Beat } from '../domain/beat.ts';
import type { LedgerReader } from '../nats/ledger.ts';
import type { Verb } from '../nats/mailbox.ts';
import { countsOfFinal, describeCounts, sumCounts, type CountRecord } from '../policy/counters.ts';
import { loadOfAll, loadOfRun, type LoadFacts } from '../policy/run-load.ts';
import type { RunRecord } from '../wire/run-record.ts';
import { readRequest } from './read-request.ts';

export interface StatsPorts {
  readonly all: () => readonly RunRecord[];
  readonly reader: Pick<LedgerReader, 'counts'>;
  /** For one run, or for all. */
  readonly load: (workers: Promise<number>, run?: string) => Promise<LoadFacts>;
  readonly beats: () => Promise<readonly Beat[]>;
}

const request = v.object({ run: v.optional(v.string()) });

export function createStatsServices({ all, reader, load, beats }: StatsPorts): Record<string, Verb> {
  return {
    async stats(body) {
      const { run } = readRequest(request, body);
      const listed = beats().then((alive) => alive.filter(isWorker));
      const [counts, facts, workers] = await Promise.all([
        run === undefined ? countAll() : reader.counts(run),
        load(countAnswering(listed), run),
        listed,
      ]);
      const { exact, ...seen } = run === undefined ? loadOfAll(facts) : loadOfRun(run, facts);
      const active = workers.filter(({ status, paused }) => status === 'running' && !paused);
      return {
        ...describeCounts(counts, seen),
        exact,
        workers: { active: active.length, total: workers.length },
      };
    },
  };

  async function countAll(): Promise<CountRecord> {
    return sumCounts(
      await Promise.all(
        all().map(async ({ id, final }): Promise<CountRecord> =>
          final ? countsOfFinal(final) : reader.counts(id),
        ),
      ),
    );
  }
}

function isWorker({ role, status }: Beat): boolean {
  return role === 'worker' && status !== 'stopped';
}

/** One that still loads its scrapers has nothing in hand, and does not answer yet. */
export async function countAnswering(beats: Promise<readonly Beat[]>): Promise<number> {
  return (await beats).filter((beat) => isWorker(beat) && beat.status !== 'initializing').length;
}
