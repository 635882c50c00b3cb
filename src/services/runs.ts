/** Runs: making them, saying that all of their tasks are submitted, and showing them with their counters. */
import * as v from 'valibot';
import { Failure } from '../domain/failure.ts';
import { isRunId } from '../domain/run-id.ts';
import type { LedgerReader } from '../nats/ledger.ts';
import type { Verb } from '../nats/mailbox.ts';
import type { Runs } from '../nats/runs.ts';
import { describeCounts } from '../policy/counters.ts';
import { loadOfRun, type LoadFacts } from '../policy/run-load.ts';
import type { RunRecord } from '../wire/run-record.ts';
import { readRequest } from './read-request.ts';

export interface RunPorts {
  readonly runs: Pick<Runs, 'create' | 'get' | 'change'>;
  /** All runs, as this coordinator knows them. */
  readonly all: () => readonly RunRecord[];
  readonly reader: Pick<LedgerReader, 'counts'>;
  /** For one run, or for all. */
  readonly load: (run?: string) => Promise<LoadFacts>;
  readonly created: (run: RunRecord) => void;
}

const name = v.pipe(v.string(), v.check(isRunId, 'must be 1 to 64 letters, digits, _ or -'));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const createRequest = v.object({ scraper: name, run: v.optional(name), priority: v.optional(count) });
const sealRequest = v.object({ run: name, messages: count });
const listRequest = v.object({ scraper: v.optional(v.string()), state: v.optional(v.string()) });
const showRequest = v.object({ run: name });

export function createRunServices({ runs, all, reader, load, created }: RunPorts): Record<string, Verb> {
  return {
    'run.create': async (body) => {
      const { scraper, run: id, priority } = readRequest(createRequest, body);
      const known = id === undefined ? undefined : await runs.get(id);
      // Whoever asks again, because the first answer was lost, means the same run.
      if (known?.scraper === scraper) return known;
      const run = await runs.create({
        scraper,
        standing: false,
        ...(id !== undefined && { id }),
        ...(priority !== undefined && { priority }),
      });
      created(run);
      return run;
    },
    'run.seal': async (body) => {
      const { run: id, messages } = readRequest(sealRequest, body);
      const sealed = await runs.change(id, (run) =>
        run.endedAt === undefined ? { ...run, sealed: { messages } } : undefined,
      );
      return sealed ?? find(id);
    },
    'run.list': async (body) => {
      const { scraper, state } = readRequest(listRequest, body);
      const wanted = all()
        .filter((run) => scraper === undefined || run.scraper === scraper)
        .filter((run) => state === undefined || run.state === state)
        .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
      const facts = await load();
      return { runs: await Promise.all(wanted.map((run) => withCounts(run, facts, run.final))) };
    },
    'run.show': async (body) => {
      const { run } = readRequest(showRequest, body);
      return withCounts(await find(run), await load(run));
    },
  };

  async function find(id: string): Promise<RunRecord> {
    const run = await runs.get(id);
    if (run) return run;
    throw new Failure('INVALID', `there is no run ${id}`, { hint: '`trawl runs ls` shows all of them.' });
  }

  async function withCounts(run: RunRecord, facts: LoadFacts, final?: RunRecord['final']): Promise<object> {
    if (final) return { ...run, counts: final };
    const { exact, ...seen } = loadOfRun(run.id, facts);
    return { ...run, counts: { ...describeCounts(await reader.counts(run.id), seen), exact } };
  }
}
