/** The coordinator, with its ports fitted to the NATS adapters, and the services that it answers. */
import { createCoordinator, type CoordinatorLimits, type CoordinatorPorts } from '../actors/coordinator.ts';
import { acceptAll } from '../actors/coordinator/accept.ts';
import type { CheckInput } from '../actors/coordinator/ports.ts';
import { createRunTable, type RunTable } from '../actors/coordinator/run-table.ts';
import { queuedRecord } from '../actors/coordinator/task-record.ts';
import type { Beat } from '../domain/beat.ts';
import { listBeats, watchBeats } from '../nats/beats.ts';
import { createFencedStore } from '../nats/fenced-run.ts';
import { createDuplicateCounter, type DuplicateCounter } from '../nats/duplicate-counter.ts';
import { createIntake } from '../nats/intake.ts';
import { runAsLeader } from '../nats/leader.ts';
import { createLedgerReader } from '../nats/ledger-reader.ts';
import { createLedgerWriter } from '../nats/ledger-writer.ts';
import type { LedgerReader, LedgerWriter } from '../nats/ledger.ts';
import { readLoad } from '../nats/load.ts';
import type { Verb } from '../nats/mailbox.ts';
import { createPageBudgets, type PageBudgets } from '../nats/page-budget.ts';
import { createPublisher } from '../nats/publisher.ts';
import { createResubmit } from '../nats/resubmit.ts';
import { watchRoutes } from '../nats/routes.ts';
import { createRuns, type Runs } from '../nats/runs.ts';
import { openServiceDesk } from '../nats/service-desk.ts';
import type { FollowBeats } from '../nats/shared-beats.ts';
import { createTaskQueue, type TaskQueue } from '../nats/task-queue.ts';
import { PROMOTION_DEFAULTS } from '../policy/promote-runs.ts';
import { RUN_END_DEFAULTS } from '../policy/run-end.ts';
import type { Actor } from '../runtime/actor.ts';
import { createCleanup, type Cleanup } from '../runtime/cleanup.ts';
import { createRunServices } from '../services/runs.ts';
import { countAnswering, createStatsServices } from '../services/stats.ts';
import { createSubmitServices } from '../services/submit.ts';
import { VERSION } from '../version.ts';
import type { Intake } from '../wire/intake.ts';
import { createRoute } from '../wire/lanes.ts';
import { SUBMISSION_LIMITS } from '../wire/submission-fields.ts';
import type { ActorParts } from './roles.ts';

export type CoordinatorSurroundings = Pick<
  ActorParts,
  'config' | 'names' | 'connection' | 'bucket' | 'id' | 'log' | 'announce'
> &
  Partial<Pick<ActorParts, 'tally'>> & {
    readonly checkInput?: CheckInput;
    /** Absent: it follows the heartbeats by itself. */
    readonly followBeats?: FollowBeats;
  };

export const COORDINATOR_DEFAULTS: CoordinatorLimits = {
  promotion: PROMOTION_DEFAULTS,
  runEnd: RUN_END_DEFAULTS,
  everyMs: 400,
  idleEveryMs: 1_000,
  watermark: 2_000_000,
  watermarkEveryMs: 250,
};

/** What the services of a coordinator work with. */
export interface CoordinatorTools {
  readonly runs: Runs;
  readonly table: RunTable;
  readonly reader: LedgerReader;
  readonly writer: LedgerWriter;
  readonly duplicates: DuplicateCounter;
  readonly budgets: PageBudgets;
  readonly queue: TaskQueue;
  readonly intake: Intake;
}

export interface CoordinatorOptions {
  /** Its services answer from now on. */
  readonly open?: () => void;
  readonly limits?: Partial<CoordinatorLimits>;
  /** Further services that it answers. */
  readonly verbs?: (tools: CoordinatorTools) => Readonly<Record<string, Verb>>;
}

/** Opens what it needs when it is run, and closes it when it ends. */
export function createCoordinatorActor(
  parts: CoordinatorSurroundings,
  options: CoordinatorOptions = {},
): Actor {
  return {
    role: 'coordinator',
    async run(stop) {
      const cleanup = createCleanup(parts.log);
      try {
        const tools = await openTools(parts, cleanup);
        const verbs = { ...ownVerbs(parts, tools), ...options.verbs?.(tools) };
        cleanup.add(
          'services',
          await openServiceDesk(parts.connection, { ...parts, version: VERSION, verbs }),
        );
        options.open?.();
        const limits = { ...COORDINATOR_DEFAULTS, ...options.limits };
        await createCoordinator(portsOf(parts, tools), limits).run(stop);
      } finally {
        await cleanup.run();
      }
    },
  };
}

export async function openTools(
  { connection, names, bucket, config, log, announce }: CoordinatorSurroundings,
  cleanup: Cleanup,
): Promise<CoordinatorTools> {
  const runs = createRuns(bucket, { log });
  const table = createRunTable(runs, ({ kind, run }) => announce({ about: 'run', kind, facts: run }));
  const writer = createLedgerWriter(connection, {
    names,
    durability: config.durability,
    batchMax: config.publisher.batch,
    ackTimeoutMs: config.publisher.ackTimeout,
    log,
  });
  cleanup.add('ledger', () => writer.close());
  const publisher = await createPublisher(connection, {
    stream: names.stream('TASKS'),
    durability: config.durability,
    window: config.publisher.window,
    batch: config.publisher.batch,
    ackTimeoutMs: config.publisher.ackTimeout,
    log,
  });
  cleanup.add('queue', () => publisher.close());
  const duplicates = createDuplicateCounter(connection, {
    names,
    ackTimeoutMs: config.publisher.ackTimeout,
    log,
  });
  cleanup.add('duplicates', () => duplicates.close());
  const budgets = createPageBudgets(connection, {
    names,
    ackTimeoutMs: config.publisher.ackTimeout,
    log,
  });
  cleanup.add('budgets', () => budgets.close());
  const intake = createIntake(connection, { names, limits: SUBMISSION_LIMITS });
  cleanup.add('intake', () => intake.close());
  const following = new AbortController();
  cleanup.add('routes', () => following.abort());
  const route = createRoute(names, await watchRoutes(bucket, following.signal));
  return {
    runs,
    table,
    writer,
    duplicates,
    budgets,
    intake,
    reader: createLedgerReader(connection, names),
    queue: createTaskQueue(connection, { names, publisher, route }),
  };
}

export function portsOf(parts: CoordinatorSurroundings, tools: CoordinatorTools): CoordinatorPorts {
  const { connection, names, bucket, config, id, log, announce } = parts;
  const { runs, table, reader, writer, duplicates, budgets, queue, intake } = tools;
  return {
    lead: (quiet, work) =>
      runAsLeader({
        bucket,
        name: 'coordinator',
        ttlMs: config.leader.ttl,
        owner: id,
        log,
        quiet,
        lead: async (lock, over) => {
          announce({ about: 'leader', kind: 'elected', facts: { role: 'coordinator', id } });
          const store = createFencedStore(connection, bucket, lock);
          await work({ over, change: (run, change) => runs.changeWith(store, run, change) });
        },
      }),
    watchBeats: parts.followBeats ?? ((listener, signal) => watchBeats(bucket, { log, signal }, listener)),
    announce: ({ kind, actor }) => announce({ about: 'actor', kind, facts: actor }),
    announceRun: ({ kind, run }) => announce({ about: 'run', kind, facts: run }),
    intake,
    queue,
    runs,
    table,
    log,
    checkInput: parts.checkInput,
    ledger: {
      accept: (records) => writer.accept(records),
      countDuplicates: (count) => duplicates.count(count),
      claimPages: (claim) => budgets.claim(claim),
      async readMany(run, ids) {
        const found = await reader.readMany(run, ids);
        await writer.ensureCounted(found.values());
        return found;
      },
      counts: (run) => reader.counts(run),
      lastSeq: async () => (await connection.jsm.streams.info(names.stream('LEDGER'))).state.last_seq,
    },
  };
}

export function ownVerbs(parts: CoordinatorSurroundings, tools: CoordinatorTools): Record<string, Verb> {
  const { connection, names, bucket, log, announce } = parts;
  const { runs, table, reader } = tools;
  const resubmit = createResubmit(connection, names);
  const { ledger } = portsOf(parts, tools);
  const common = { all: () => table.all(), reader };
  const beats = (): Promise<Beat[]> => listBeats(bucket, log);
  return {
    ...createSubmitServices({
      ensureRun: (draft) => table.ensure(draft),
      publish: (tasks, to) => resubmit.fresh(tasks, to),
      accept: async (tasks, origin) => {
        const records = tasks.map((task) => queuedRecord(task, origin));
        return (await acceptAll(ledger, records, origin)).knownIds;
      },
      checkInput: parts.checkInput,
      refused: (tasks) => parts.tally?.refused(tasks),
      limits: SUBMISSION_LIMITS,
      now: Date.now,
    }),
    ...createRunServices({
      ...common,
      runs,
      load: (run) => readLoad(connection, names, { run, workers: countAnswering(beats()) }),
      created: (run) => announce({ about: 'run', kind: 'created', facts: run }),
    }),
    ...createStatsServices({
      ...common,
      beats,
      load: (workers, run) => readLoad(connection, names, { run, workers }),
    }),
  };
}
