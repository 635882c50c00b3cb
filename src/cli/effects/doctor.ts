/** `trawl doctor`: look at everything that has to be right, and say what to do about what is not. */
import { statfsSync, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import * as v from 'valibot';
import { readJson } from '../../http/read-json.ts';
import { loadConfiguredScrapers } from '../../cluster/load-scrapers.ts';
import { planCluster } from '../../cluster/topology.ts';
import { asFailure } from '../../domain/failure.ts';
import { findBusyPorts } from '../../local/ports.ts';
import { allPorts, clientUrl, planPorts } from '../../local/layout.ts';
import { readLocalStatus } from '../../local/status.ts';
import { compareTopology, describeDrift } from '../../nats/apply-topology.ts';
import type { Connection } from '../../nats/connect.ts';
import { readClockSkew, readStoreUse } from '../../nats/server-facts.ts';
import { diagnose, type Facts, type Finding } from '../../policy/diagnose.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { withConnection } from '../with-connection.ts';

const MARK: Readonly<Record<Finding['level'], string>> = {
  ok: 'ok  ',
  warn: 'warn',
  fail: 'FAIL',
  skip: 'skip',
};

export async function run(context: CommandContext): Promise<ExitCode> {
  const findings = diagnose(await gatherFacts(context));
  const failed = findings.some(({ level }) => level === 'fail');
  context.output.result(
    { healthy: !failed, findings },
    findings
      .map(
        ({ check, level, detail, todo }) =>
          `${MARK[level]}  ${check.padEnd(12)} ${detail}${todo === undefined ? '' : `\n      → ${todo}`}`,
      )
      .join('\n'),
  );
  return failed ? EXIT.failure : EXIT.ok;
}

async function gatherFacts(context: CommandContext): Promise<Facts> {
  const { config } = context;
  const always = {
    nodeVersion: process.versions.node,
    durability: config.durability,
    ...(await gatherPorts(context)),
    scrapers: await gatherScrapers(context),
  };
  const nothing = {
    server: undefined,
    jetstream: false,
    topology: [],
    syncAlways: undefined,
    clockSkewMs: undefined,
  };
  try {
    return await withConnection(context, 'doctor', async (connection) => {
      const { nc } = connection;
      const server = { version: nc.info?.version ?? '', name: nc.info?.server_name ?? '' };
      const usedBytes = await readStoreUse(connection);
      const disk = gatherDisk(context, usedBytes ?? 0);
      if (usedBytes === undefined) return { ...always, ...nothing, server, disk };
      return {
        ...always,
        server,
        jetstream: true,
        ...(await gatherTopology(context, connection)),
        syncAlways: await readSyncAlways(context),
        clockSkewMs: await readClockSkew(connection),
        disk,
      };
    });
  } catch (error) {
    const { message, hint } = asFailure(error);
    const serverProblem = { detail: message, todo: hint };
    return { ...always, ...nothing, serverProblem, disk: gatherDisk(context, 0) };
  }
}

async function gatherTopology(
  { config }: CommandContext,
  connection: Connection,
): Promise<Pick<Facts, 'topology' | 'topologyProblem'>> {
  try {
    const states = await compareTopology(connection, planCluster(config));
    return {
      topology: states.map(({ name, state, drift }) => ({
        name,
        state,
        detail: drift.map(describeDrift).join(', '),
      })),
    };
  } catch (error) {
    return { topology: [], topologyProblem: asFailure(error).message };
  }
}

async function gatherPorts({ config }: CommandContext): Promise<Pick<Facts, 'isLocal' | 'ports'>> {
  const { condition, cluster } = await readLocalStatus(config.home);
  const { nodes, portBase } = config.local;
  const running = condition === 'running' && cluster !== undefined;
  const ports = running ? cluster.ports : planPorts({ nodes, portBase, httpPort: config.http.port });
  const busy = new Set((await findBusyPorts(allPorts(ports))).map(({ port }) => port));
  const uses: [string, readonly number[]][] = [
    ['NATS', ports.client],
    ['NATS routes', ports.routes],
    ['NATS monitoring', ports.monitor],
    ['exporter', [ports.http]],
  ];
  return {
    isLocal: ports.client.some((port) => config.nats.url.includes(clientUrl(port))),
    ports: uses.flatMap(([use, numbers]) =>
      numbers.map(
        (port) => ({ port, use, state: !busy.has(port) ? 'free' : running ? 'ours' : 'foreign' }) as const,
      ),
    ),
  };
}

async function gatherScrapers({ config }: CommandContext): Promise<Facts['scrapers']> {
  const { scrapers, problems } = await loadConfiguredScrapers(config);
  return { names: scrapers.map(({ name }) => name), problems };
}

function gatherDisk({ config }: CommandContext, usedBytes: number): Facts['disk'] {
  const home = resolve(config.home);
  if (!existsSync(home)) return undefined;
  const { bavail, bsize } = statfsSync(home);
  return { freeBytes: bavail * bsize, usedBytes, limitBytes: config.local.maxStore * config.local.nodes };
}

/** Only the monitoring page tells; it is known for the local cluster and closed to us elsewhere. */
async function readSyncAlways({ config }: CommandContext): Promise<boolean | undefined> {
  const { condition, cluster } = await readLocalStatus(config.home);
  const isLocal = config.nats.url.some((url) => cluster?.urls.includes(url));
  if (condition !== 'running' || !cluster || !isLocal) return undefined;
  const page = `http://127.0.0.1:${cluster.ports.monitor[0] ?? 0}/varz`;
  const facts = v.safeParse(serverPage, await readJson(page, { timeoutMs: 2_000 }));
  return facts.success ? (facts.output.jetstream.config.sync_always ?? false) : undefined;
}

const serverPage = v.object({
  jetstream: v.object({ config: v.object({ sync_always: v.optional(v.boolean()) }) }),
});
