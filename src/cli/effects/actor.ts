/** `trawl worker`, `trawl coordinator`, …, `trawl all`: run actors in this process until told to stop. */
import { startCluster } from '../../cluster/start-cluster.ts';
import type { Role } from '../../domain/role.ts';
import type { SinkSpec } from '../../domain/sink.ts';
import { announceReady } from '../../local/supervised.ts';
import { untilAborted } from '../../runtime/actor.ts';
import type { Effect } from '../command.ts';
import { EXIT } from '../exit.ts';

/** What `trawl <role>` does. */
export function actOut(role: Role | 'all', sink?: SinkSpec): Effect {
  return async ({ config, log, interrupts, argv }) => {
    const interrupted = interrupts();
    const cluster = await startCluster(config, {
      role,
      log,
      stop: interrupted,
      untilEmpty: untilEmptyOf(argv),
      onlyScraper: textOf(argv['scraper']),
      sink,
    });
    announceReady();
    // Ends by a signal, by its mailbox, or because it cannot go on.
    await Promise.race([untilAborted(interrupted), cluster.done]);
    await cluster.stop();
    return EXIT.ok;
  };
}

function untilEmptyOf(argv: Readonly<Record<string, unknown>>): { run?: string } | undefined {
  const run = textOf(argv['run-id']);
  if (run !== undefined) return { run };
  return argv['until-empty'] === true ? {} : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
