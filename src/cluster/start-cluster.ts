/** Actors of one role, or one of each, in this process: started, watched, started again when they fail. */
import type { Config } from '../config/fields.ts';
import { asFailure, type Failure } from '../domain/failure.ts';
import { STANDING_ROLES, type Role } from '../domain/role.ts';
import type { SinkSpec } from '../domain/sink.ts';
import { decideRestart, type Exit } from '../policy/restart.ts';
import { createStop } from '../runtime/actor.ts';
import { supervise, type Restarts } from '../runtime/supervise.ts';
import { createProcessLog, type Log } from '../telemetry/log.ts';
import { startActor, type Running } from './start-actor.ts';

export interface ClusterOptions {
  /** One of each of these. */
  readonly role: Role | 'all' | readonly Role[];
  readonly log?: Log;
  /** Drains and ends the actors, also while they still start. */
  readonly stop?: AbortSignal;
  /** A worker ends by itself when nothing is left of this run, or of anything. */
  readonly untilEmpty?: { readonly run?: string } | undefined;
  /** A worker loads this scraper alone. */
  readonly onlyScraper?: string | undefined;
  /** What a sink delivers, and where to. */
  readonly sink?: SinkSpec | undefined;
}

export interface Cluster {
  /** The actors that run now. */
  actors(): readonly Running[];
  /** Drains and ends them all. */
  stop(): Promise<void>;
  /** Gives their work back and ends them all. */
  abort(): Promise<void>;
  /** Resolves when all have ended as they were told; rejects when one of them cannot go on. */
  readonly done: Promise<void>;
}

/** Resolves when every actor runs; rejects, with nothing left running, when one of them cannot. */
export async function startCluster(config: Config, options: ClusterOptions): Promise<Cluster> {
  const log = options.log ?? createProcessLog(config.log);
  const roles = rolesOf(options.role);
  const control = createStop(config.actor.grace);
  const running = new Map<Role, Running>();
  control.stop.quiet.addEventListener('abort', () => running.forEach((actor) => actor.quiet()), {
    once: true,
  });
  control.stop.abort.addEventListener('abort', () => running.forEach((actor) => actor.abort()), {
    once: true,
  });

  if (options.stop?.aborted) control.quiet();
  options.stop?.addEventListener('abort', () => control.quiet(), { once: true });

  let failure: Failure | undefined;
  const lives = roles.map((role) => live(role));
  const done = Promise.all(lives.map(({ ended }) => ended)).then(() => {
    control.settled();
    if (failure) throw failure;
  });
  done.catch(() => undefined); // whoever waits for it hears of it
  // Either all of them run, or one of them has failed for good and the others were stopped.
  await Promise.race([Promise.all(lives.map(({ started }) => started)), done]);

  return {
    actors: () => [...running.values()],
    stop() {
      control.quiet();
      return done;
    },
    abort() {
      control.abort();
      return done;
    },
    done,
  };

  function live(role: Role): { started: Promise<void>; ended: Promise<void> } {
    let isUp = (): void => undefined;
    const started = new Promise<void>((resolve) => (isUp = resolve));
    const ended = supervise({
      name: role,
      log,
      quiet: control.stop.quiet,
      restarts: restartsUpTo(config.local.restartBackoffMax),
      async start() {
        const actor = await startActor(config, {
          role,
          log,
          stop: control.stop.quiet,
          untilEmpty: options.untilEmpty,
          onlyScraper: options.onlyScraper,
          sink: options.sink,
        });
        running.set(role, actor);
        if (control.stop.quiet.aborted) actor.quiet();
        isUp();
        await actor.done.finally(() => running.delete(role));
      },
    }).catch((error: unknown) => {
      failure ??= asFailure(error);
      control.quiet();
    });
    return { started, ended };
  }
}

function rolesOf(role: ClusterOptions['role']): readonly Role[] {
  if (role === 'all') return STANDING_ROLES;
  return typeof role === 'string' ? [role] : role;
}

function restartsUpTo(maxMs: number): Restarts {
  const exits: Exit[] = [];
  return {
    nextDelayMs({ ranMs, random }) {
      exits.push({ ranMs, code: 1, signal: null });
      const decision = decideRestart(
        { kind: 'actor', exits, random },
        { baseMs: 200, maxMs, stableMs: 60_000 },
      );
      return decision.action === 'restart' ? decision.delayMs : maxMs;
    },
  };
}
