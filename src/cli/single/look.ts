/**
 * A command about a run finds it where it is: on the cluster, or in a folder of single mode. While that run goes on,
 * its own process answers; afterwards its server is started again for as long as the command takes.
 */
import { resolve } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { readLocalAccess } from '../../local/access.ts';
import { readLockHolder } from '../../local/home-lock.ts';
import { readSingleRecord, singleFolder } from '../../local/single-record.ts';
import { connectNats } from '../../nats/connect.ts';
import { createServices } from '../../nats/services-client.ts';
import { createNames } from '../../wire/names.ts';
import { readText } from '../arguments.ts';
import type { CommandContext, Effect, SingleNeed } from '../command.ts';
import type { ExitCode } from '../exit.ts';
import { configFor, openSession, type SingleSession } from './session.ts';

const PATIENCE_MS = 15_000;

export async function runWhereTheRunIs(
  outer: CommandContext,
  needs: SingleNeed,
  effect: Effect,
): Promise<ExitCode> {
  const folder = findFolder(outer);
  if (folder === undefined) return effect(outer);
  const context = { ...outer, singleFolder: folder };
  if (needs === 'folder') return effect(context);
  if (readLockHolder(folder)) {
    const access = readLocalAccess(folder);
    return effect(access ? { ...context, config: configFor(context.config, access) } : context);
  }
  if (needs === 'running')
    throw new Failure('CONFLICT', `nobody works on the run in ${folder}`, {
      hint: '`trawl run SCRAPER --resume RUN` goes on with it; `trawl stats RUN` shows how far it is.',
    });
  const stop = context.interrupts();
  const session = await openSession(context, {
    folder,
    roles: needs === 'coordinator' ? ['coordinator'] : [],
    stop,
  });
  try {
    if (needs === 'coordinator') await untilAnswered(session);
    const { config, log } = session;
    if (needs === 'actor') return await effect({ ...context, config });
    return await Promise.race([effect({ ...context, config, log }), aborted(stop)]);
  } finally {
    await session.close();
  }
}

/** By its folder, or by its name where nobody said that it is on the cluster. */
function findFolder({ argv, config }: CommandContext): string | undefined {
  const data = readText(argv, 'data');
  if (data !== undefined) {
    if (readSingleRecord(resolve(data))) return resolve(data);
    throw new Failure('INVALID', `there is no run in ${resolve(data)}`, {
      hint: 'Give the folder that `trawl run --data` was given.',
    });
  }
  const run = readText(argv, 'run');
  if (run === undefined || argv['distributed'] === true) return undefined;
  const folder = singleFolder(resolve(config.home), run);
  return readSingleRecord(folder) ? folder : undefined;
}

async function untilAnswered({ config, log }: SingleSession): Promise<void> {
  const connection = await connectNats({
    access: config.nats,
    name: 'trawl',
    log,
    whenUnreachable: 'fail',
  });
  try {
    const services = createServices(connection, createNames(config.namespace), {
      nobody: 'the coordinator of this process does not answer',
      hint: 'Its log is in the folder of the run.',
      patienceMs: PATIENCE_MS,
    });
    await services.call('run.list', {});
  } finally {
    await connection.close();
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = (): void => reject(new Failure('CANCELLED', 'interrupted'));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
