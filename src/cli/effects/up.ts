/** `trawl up`: start the local cluster, say what runs where and what to type next. */
import { resolve } from 'node:path';
import { bringUp, type UpResult } from '../../local/up.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { spreadWorkers, type Spread } from '../../policy/spread-workers.ts';
import { describeLocalCluster, PER_MACHINE } from '../local-cluster.ts';
import { renderSteps, type Step } from '../next-steps.ts';

export async function run({ loaded, output, argv }: CommandContext): Promise<ExitCode> {
  const result = await bringUp(describeLocalCluster(loaded, argv), ({ text }) =>
    output.progress(`… ${text}`),
  );
  output.result(
    { ...result, cluster: publicFacts(result), workers: findSpread(result.cluster) },
    describe(result),
  );
  return EXIT.ok;
}

function publicFacts({ cluster }: UpResult): object {
  const { home, cluster: name, phase, startedAt, nodes, ports, urls, contexts, children } = cluster;
  return { name, home, phase, startedAt, nodes, ports, urls, contexts, children };
}

interface WorkerSpread extends Spread {
  readonly wanted: number;
  readonly perMachine: number;
}

/** Of the cluster that runs, whatever this call has asked for. */
function findSpread({ settings }: UpResult['cluster']): WorkerSpread {
  const wanted = Number(settings['workers'] ?? 0);
  const perMachine = Number(settings[PER_MACHINE] ?? 0);
  return { wanted, perMachine, ...spreadWorkers({ wanted, perMachine }) };
}

function describeSpread({ wanted, perMachine, here, machines }: WorkerSpread): string[] {
  if (machines === 1) return [];
  return [
    '',
    `${wanted} workers at ${perMachine} per machine need ${machines} machines; ${here} run here, start the others with: npx trawl worker --nats-url URL`,
    'The servers of this cluster listen on loopback only: others reach them through a tunnel, or all use servers of yours (README: On several machines).',
  ];
}

/** The home that every command takes by itself when it is run in this folder. */
function isUsualHome(home: string): boolean {
  return home === resolve('.trawl');
}

function nextSteps({ home, contexts }: UpResult['cluster']): Step[] {
  const elsewhere = isUsualHome(home) ? '' : ` --home ${home}`;
  const down = `make cluster-down${isUsualHome(home) ? '' : ` TRAWL_HOME=${home}`}`;
  return [
    [`npx trawl demo${elsewhere}`, 'scrapes the demo site: a live bar, then a table of results'],
    [`npx trawl status${elsewhere}`, 'every actor'],
    ...(contexts ? [[`nats --context ${contexts.app} micro ls`, 'the same with the nats CLI'] as const] : []),
    [down, 'the data stays'],
  ];
}

function describe(result: UpResult): string {
  const { cluster } = result;
  const byRole = (role: string): string =>
    cluster.children
      .filter((child) => child.role === role)
      .map(({ name }) => name)
      .join(', ');
  const home = cluster.home;
  const lines = [
    result.outcome === 'already-up' ? `${cluster.cluster} is already up.` : `${cluster.cluster} is up.`,
    '',
    `  nats       ${cluster.urls.join(', ')}  (monitoring http://127.0.0.1:${cluster.ports.monitor[0] ?? 0})`,
    `  actors     ${[byRole('coordinator'), byRole('proxy-manager'), byRole('autoscaler')].join(', ')}`,
    `  workers    ${byRole('worker') || 'none'}`,
    `  metrics    http://127.0.0.1:${cluster.ports.http}/metrics`,
    `  data, logs ${home}`,
    ...describeSpread(findSpread(cluster)),
    '',
    'Next:',
    ...renderSteps(nextSteps(cluster)),
  ];
  if (result.outcome === 'already-up' && result.differences.length > 0) {
    const asked = result.differences.map(
      ({ name, running, requested }) => `${name} ${running ?? 'unset'} (asked for ${requested ?? 'unset'})`,
    );
    lines.push('', `It runs with ${asked.join(', ')}: stop it first to change that.`);
  }
  return lines.join('\n');
}
