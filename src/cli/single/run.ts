/** `trawl run` in single mode: coordinator, proxy-manager and worker in this process, until the run has ended. */
import { readAnswer, answers, type RunSummary } from '../../client/answers.ts';
import { createClient, type Client } from '../../client/client.ts';
import { hasEnded } from '../../client/run-end.ts';
import { asFailure, Failure } from '../../domain/failure.ts';
import { writeSingleRecord } from '../../local/single-record.ts';
import { connectNats } from '../../nats/connect.ts';
import { createServices } from '../../nats/services-client.ts';
import { createNames } from '../../wire/names.ts';
import { readPriority, readText, requireText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { followRun } from '../follow-run.ts';
import { renderCount } from '../progress-bar.ts';
import { describeEnd, exitOf } from '../run-summary.ts';
import { findStart } from '../start-list.ts';
import { submitList } from '../submit-list.ts';
import { openTaskFile, requireTaskFile } from '../task-lines.ts';
import type { Ask } from '../with-connection.ts';
import { findRunToResume, planNewRun, resumeCommand, type SinglePlace } from './place.ts';
import { openSession, type SingleSession } from './session.ts';

const USAGE = 'trawl run SCRAPER --urls-file FILE';
const STDIN = '-';
/** The coordinator of this process begins to answer a moment after it has started. */
const PATIENCE_MS = 15_000;

export async function runSingle(context: CommandContext, scraper: string): Promise<ExitCode> {
  const { argv, output } = context;
  const stop = watchStop(context);
  const place = await choosePlace(context, scraper);
  const session = await openSession(context, {
    folder: place.folder,
    roles: ['coordinator', 'proxy-manager', 'worker'],
    stop,
  });
  try {
    const outcome = await withOwnClient(session, (parts) =>
      work(context, { ...parts, place, session, stop }),
    );
    const data = { mode: 'single', data: place.folder };
    const answer = { run_id: place.record.run, enqueued: outcome.enqueued, worker_command: null, ...data };
    if (outcome.kind === 'ended') {
      const { ended } = outcome;
      writeSingleRecord(place.folder, { ...place.record, ended: ended.state });
      output.result({ status: ended.state, ...answer, counts: ended.counts }, describeEnd(ended));
      return exitOf(ended);
    }
    const resume = resumeCommand(place, readText(argv, 'data'));
    output.result(
      { status: 'interrupted', ...answer, counts: outcome.summary?.counts, resume_command: resume },
      describeInterrupted(place, outcome.summary, resume),
    );
    return EXIT.failure;
  } finally {
    await session.close();
  }
}

/** A closed terminal is like Ctrl-C: the next step is to go on. */
function watchStop({ interrupts }: CommandContext): AbortSignal {
  const stop = new AbortController();
  const end = (): void => stop.abort(new Failure('CANCELLED', 'the run was interrupted'));
  interrupts().addEventListener('abort', end, { once: true });
  process.once('SIGHUP', end);
  return stop.signal;
}

async function choosePlace({ argv, config }: CommandContext, scraper: string): Promise<SinglePlace> {
  const data = readText(argv, 'data');
  const resume = argv['resume'];
  const run = typeof resume === 'string' && resume !== '' ? resume : readText(argv, 'run-id');
  const dropTracking = argv['drop-tracking'] === true;
  const request = { home: config.home, scraper, data, run, dropTracking };
  if (resume !== undefined) return findRunToResume(request);
  const given = readText(argv, 'urls-file');
  // Where it starts is read again by whoever goes on with the run.
  if (given === undefined && (await findStart(config, scraper))) return planNewRun(request, STDIN);
  const list = requireText(argv, 'urls-file', USAGE);
  requireTaskFile(list); // says at once what cannot be read
  return planNewRun(request, list);
}

interface Parts {
  readonly client: Client;
  readonly ask: Ask;
}

async function withOwnClient<T>(
  { config, log }: SingleSession,
  use: (parts: Parts) => Promise<T>,
): Promise<T> {
  const names = createNames(config.namespace);
  const connection = await connectNats({
    access: config.nats,
    name: 'trawl run',
    log,
    whenUnreachable: 'fail',
  });
  const services = createServices(connection, names, {
    nobody: 'the coordinator of this process does not answer',
    hint: 'Its log is in the folder of the run.',
    patienceMs: PATIENCE_MS,
  });
  const ask: Ask = async (verb, schema, body, options) =>
    readAnswer(schema, await services.call(verb, body, options));
  try {
    return await use({
      client: createClient(connection, { names, durability: config.durability, services }),
      ask,
    });
  } finally {
    await connection.close();
  }
}

interface Work extends Parts {
  readonly place: SinglePlace;
  readonly session: SingleSession;
  readonly stop: AbortSignal;
}

type Worked =
  | { readonly kind: 'ended'; readonly enqueued: number; readonly ended: RunSummary }
  | { readonly kind: 'interrupted'; readonly enqueued: number; readonly summary: RunSummary | undefined };

async function work(context: CommandContext, parts: Work): Promise<Worked> {
  const { output } = context;
  const { ask, place, session, stop } = parts;
  const { run } = place.record;
  let enqueued = 0;
  try {
    // What is written before the first task is what a process that is killed now leaves behind.
    writeSingleRecord(place.folder, asOpen(place.record));
    enqueued = await Promise.race([submit(context, parts), session.failed]);
    const following = followRun({ ask, run, output, quiet: true, until: stop });
    return { kind: 'ended', enqueued, ended: await Promise.race([following, session.failed]) };
  } catch (error) {
    if (!stop.aborted || asFailure(error).code !== 'CANCELLED') throw error;
  }
  output.progress('Finishing what is in hand; again to end at once.');
  await session.drain();
  const summary = await ask('run.show', answers.runWithCounts, { run }).catch(() => undefined);
  if (summary && hasEnded(summary)) return { kind: 'ended', enqueued, ended: summary };
  return { kind: 'interrupted', enqueued, summary };
}

/** Hands the list in, unless a process before this one has handed in all of it. */
async function submit(context: CommandContext, { client, ask, place, stop }: Work): Promise<number> {
  const { argv, output } = context;
  const { run, scraper, urlsFile, dropTracking } = place.record;
  const given = readText(argv, 'urls-file');
  if (argv['resume'] !== undefined && given === undefined) {
    const known = await ask('run.show', answers.runWithCounts, { run }).catch(absentIfInvalid);
    if (known?.sealed || (known && hasEnded(known))) return 0;
  }
  const list = given ?? urlsFile;
  const file = list === null ? await findStart(context.config, scraper) : openTaskFile(list);
  if (!file)
    throw new Failure('INVALID', `the list of run ${run} came from stdin, and not all of it was read`, {
      hint: `Give it once more: trawl run ${scraper} --resume ${run} --urls-file FILE. What is stored already is recognised.`,
    });
  // The same task twice is one task: what was handed in before is recognised.
  const { enqueued } = await submitList({
    ...{ client, scraper, file, run, output, until: stop },
    priority: readPriority(argv),
    dropTracking: dropTracking === true,
  });
  return enqueued;
}

function absentIfInvalid(error: unknown): undefined {
  if (asFailure(error).code !== 'INVALID') throw error;
}

/** A run that ended may have been opened again, for dead tasks that somebody put back. */
function asOpen(record: SinglePlace['record']): SinglePlace['record'] {
  const { version, run, scraper, createdAt, urlsFile, dropTracking } = record;
  const open = { version, run, scraper, createdAt, urlsFile };
  return dropTracking === undefined ? open : { ...open, dropTracking };
}

function describeInterrupted(
  { record }: SinglePlace,
  summary: RunSummary | undefined,
  resume: string,
): string {
  const counts = summary?.counts;
  const settled = counts ? counts.done + counts.dead + counts.cancelled : 0;
  const far = counts ? `: ${renderCount(settled)} of ${renderCount(counts.total)} tasks are settled` : '';
  return `Run ${record.run} was interrupted${far}. Go on with it:\n  ${resume}`;
}
