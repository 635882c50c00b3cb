/** One run of the chaos test, from an empty server to the verdict. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBucket } from '../../../src/nats/bucket.ts';
import { POISON_DEFAULTS } from '../../../src/policy/poison.ts';
import { createNames } from '../../../src/wire/names.ts';
import { startNatsServer, type Teardown } from '../nats-server.ts';
import { createRandom } from '../random.ts';
import { makeStreams } from '../short-leases.ts';
import { findBroken, type Broken } from './check.ts';
import { listRuns, sealRun, untilDrained } from './drain.ts';
import { startFleet, untilReady } from './fleet.ts';
import { openHistory, readHistory, type FaultKind } from './history.ts';
import { dumpLedger, keepAllVersions, listMessages } from './ledger-dump.ts';
import { describePlan, doFaults, planFaults } from './nemesis.ts';
import { listProcesses, writeScraper, type Bug } from './processes.ts';
import type { ChaosStory } from './story.ts';
import { createSubmitter, type KindRates } from './submitter.ts';
import { startTarget } from './target.ts';

export interface ChaosOptions {
  readonly seed: number;
  /** For so long tasks are submitted and faults are done. */
  readonly seconds: number;
  readonly tasks: number;
  readonly kinds: KindRates;
  readonly faults: readonly FaultKind[];
  readonly drainMaxMs: number;
  /** Without them, and with a server that lives, it is known of every submission whether it was stored. */
  readonly requests?: boolean;
  /** Processes of the test's own making, some with this bug; absent: the program's. */
  readonly bug?: Bug;
}

export interface ChaosReport {
  readonly broken: readonly Broken[];
  readonly plan: string;
  /** What the run was like, in numbers. */
  readonly numbers: Readonly<Record<string, number>>;
  /** Where the history and the logs are; `forget` removes them. */
  readonly folder: string;
  forget(): void;
}

export const LEASE_MS = 2_000;
const RETRIES = 3;
const RUN = 'storm';
const names = createNames('trawl');

export async function runChaos(t: Teardown, options: ChaosOptions): Promise<ChaosReport> {
  const folder = mkdtempSync(join(tmpdir(), `trawl-chaos-${options.seed}-`));
  try {
    return await storm(t, options, folder);
  } catch (cause) {
    throw new Error(`seed ${options.seed} did not get to its end; what there is lies in ${folder}`, {
      cause,
    });
  }
}

async function storm(t: Teardown, options: ChaosOptions, folder: string): Promise<ChaosReport> {
  const { seed, seconds } = options;
  const historyFile = join(folder, 'history.jsonl');
  const history = openHistory(historyFile);
  t.teardown(() => history.close());
  const server = await startNatsServer(t, { sync: 'always' });
  const connection = await server.connect('chaos');
  await makeStreams(connection, { leaseMs: LEASE_MS });
  await keepAllVersions(connection, names);
  const target = await startTarget(t, seed);
  writeScraper(folder, { history: historyFile, leaseMs: LEASE_MS, retries: RETRIES });

  const plan = planFaults(createRandom(seed), { seconds, leaseMs: LEASE_MS, kinds: options.faults });
  writeFileSync(join(folder, 'plan.txt'), `seed ${seed}\n${describePlan(plan)}\n`);
  const fleet = startFleet(t, listProcesses({ folder, url: server.url, bug: options.bug }), history);
  await untilReady(connection, names, fleet.members);
  const submitter = createSubmitter({
    connection,
    names,
    run: RUN,
    target,
    history,
    random: createRandom(seed + 1),
    kinds: options.kinds,
    requests: options.requests ?? true,
  });
  await Promise.all([
    submitter.run({ tasks: options.tasks, seconds }),
    doFaults(plan, { fleet, server, history }),
  ]);
  const faultsEndedMs = performance.now();
  await sealRun(connection, names, { run: RUN, messages: submitter.messages() });
  const drained = await untilDrained(connection, names, { run: RUN, limitMs: options.drainMaxMs });
  const drainedMs = drained ? Math.round(performance.now() - faultsEndedMs) : undefined;
  await fleet.stop();
  const intake = await listMessages(connection, names.stream('INTAKE'));
  const queue = await listMessages(connection, names.stream('TASKS'));

  const story: ChaosStory = {
    tasks: submitter.tasks,
    events: readHistory(historyFile),
    ledger: await dumpLedger(connection, names),
    left: { intake: intake.length, tasks: new Set(queue.map(({ task }) => task)) },
    drainedMs,
    runs: await listRuns(openBucket(connection, names.bucket('cluster'))),
    limits: { retries: RETRIES, soloStarts: POISON_DEFAULTS.soloStartsMax, drainMaxMs: options.drainMaxMs },
  };
  const broken = findBroken(story);
  writeFileSync(
    join(folder, 'ledger.jsonl'),
    story.ledger.map((entry) => `${JSON.stringify(entry)}\n`).join(''),
  );
  const facts = { broken, runs: story.runs, intake, queue };
  writeFileSync(join(folder, 'broken.json'), JSON.stringify(facts, null, 2));
  return {
    broken,
    plan: describePlan(plan),
    numbers: { ...measure(story), hits: target.hits() },
    folder,
    forget: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function measure({ events, ledger, tasks, drainedMs }: ChaosStory): Record<string, number> {
  const count = (fits: (event: ChaosStory['events'][number]) => boolean): number =>
    events.filter(fits).length;
  const states = new Map<string, string>();
  for (const entry of ledger) if (entry.type === 'task') states.set(entry.task, entry.state);
  const inState = (state: string): number => [...states.values()].filter((one) => one === state).length;
  return {
    tasks: tasks.size,
    unknown: count((event) => event.type === 'submit' && event.outcome === 'unknown'),
    done: inState('done'),
    dead: inState('dead'),
    queued: inState('queued'),
    attempts: count((event) => event.type === 'begin'),
    failed: count((event) => event.type === 'end' && event.outcome === 'failed'),
    deferred: count((event) => event.type === 'end' && event.outcome === 'deferred'),
    faults: count((event) => event.type === 'fault'),
    deaths: count((event) => event.type === 'died'),
    drainedMs: drainedMs ?? -1,
  };
}
