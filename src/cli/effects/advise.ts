/** `trawl advise`: what to do, by the last measurements of the autoscaler. */
import { readScaleEvents } from '../../nats/scale-history.ts';
import { advise, type AdviceLimits, type Advised } from '../../policy/autoscale/advise.ts';
import type { Config } from '../../config/fields.ts';
import { createNames } from '../../wire/names.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { readDecisions, readLoads } from '../scale-events.ts';
import { withConnection } from '../with-connection.ts';

export async function run(context: CommandContext): Promise<ExitCode> {
  const { config, output } = context;
  const limits = limitsOf(config);
  const since = Date.now() - 2 * limits.samples * config.autoscale.interval - config.autoscale.staleAfter;
  const events = await withConnection(context, 'advise', (connection) =>
    readScaleEvents(connection, createNames(config.namespace), { since }),
  );
  const advised = advise(readLoads(readDecisions(events)), limits);
  output.result(advised, describe(advised));
  return EXIT.ok;
}

function limitsOf({ advise: given }: Config): AdviceLimits {
  const { samples, backlog, perWorker, idleRate, workersMin } = given;
  return {
    samples,
    backlog,
    perWorker,
    idleRate,
    workersMin,
    errorRate: given.errors / 100,
    keep: given.keep / 100,
  };
}

function describe(advised: Advised): string {
  if (advised.kind === 'insufficient')
    return `Too little is known: ${advised.samples} of ${advised.needed} measurements. An autoscaler makes them, one each interval.`;
  const { state, advice } = advised;
  const numbers = `${state.pending.toFixed(0)} tasks, ${state.workers.toFixed(1)} workers, ${state.jobsPerSecond.toFixed(2)} tasks a second, ${(state.errorRate * 100).toFixed(1)} % failed`;
  if (advice.length === 0) return `Nothing to do: ${numbers}.`;
  const lines = advice.map((each) =>
    'workers' in each
      ? `${each.action}: ${each.workers} workers. ${capital(each.reason)}.`
      : `${each.action} (${each.priority}): ${each.reason}.`,
  );
  return [...lines, '', capital(numbers)].join('\n');
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
