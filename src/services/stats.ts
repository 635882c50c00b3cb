/** `stats`: the counters of a run, or of everything, and the workers; from counters and consumer states, never a scan. */
import * as v from 'valibot';
import type { Beat } from '../domain/beat.ts';
import type { LedgerReader } from '../nats/ledger.ts';
import type { Load } from '../nats/load.ts';
import type { Verb } from '../nats/mailbox.ts';
import { describeCounts, NO_COUNTS, sumCounts, type CountRecord } from '../policy/counters.ts';
import type { RunRecord } from '../wire/run-record.ts';
import { readRequest } from './read-request.ts';

export interface StatsPorts {
  readonly all: () => readonly RunRecord[];
  readonly reader: Pick<LedgerReader, 'counts'>;
  readonly load: () => Promise<Load>;
  readonly beats: () => Promise<readonly Beat[]>;
}

const request = v.object({ run: v.optional(v.string()) });

export function createStatsServices({ all, reader, load, beats }: StatsPorts): Record<string, Verb> {
  return {
    async stats(body) {
      const { run } = readRequest(request, body);
      const [counts, seen, alive] = await Promise.all([
        run === undefined ? countAll() : reader.counts(run),
        load(),
        beats(),
      ]);
      const workers = alive.filter(({ role, status }) => role === 'worker' && status !== 'stopped');
      const active = workers.filter(({ status, paused }) => status === 'running' && !paused);
      return {
        ...describeCounts(counts, seen),
        workers: { active: active.length, total: workers.length },
      };
    },
  };

  async function countAll(): Promise<CountRecord> {
    return sumCounts(
      await Promise.all(
        all().map(async ({ id, final }): Promise<CountRecord> =>
          final ? countsOf(final) : reader.counts(id),
        ),
      ),
    );
  }
}

function countsOf(final: Readonly<Record<string, number>>): CountRecord {
  const { total = 0, duplicates = 0, done = 0, dead = 0, cancelled = 0, items = 0 } = final;
  return { ...NO_COUNTS, accepted: total, duplicates, done, dead, cancelled, items };
}
