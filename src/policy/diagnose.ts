/** What is wrong with a cluster, and what to do: facts that `trawl doctor` gathered → findings. Pure. */
import { isAtLeast, MIN_SERVER_VERSION } from '../domain/version.ts';

export const MIN_NODE_VERSION = '20.19.0';

export interface Finding {
  readonly check: string;
  readonly level: 'ok' | 'warn' | 'fail' | 'skip';
  readonly detail: string;
  readonly todo?: string;
}

/** `undefined` = could not be found out. */
export interface Facts {
  readonly nodeVersion: string;
  readonly server: { readonly version: string; readonly name: string } | undefined;
  /** Why there is none, and what whoever failed to connect says to do about it. */
  readonly serverProblem?: { readonly detail: string; readonly todo: string | undefined };
  readonly jetstream: boolean;
  readonly topology: readonly {
    readonly name: string;
    readonly state: 'missing' | 'drifted' | 'same';
    readonly detail: string;
  }[];
  readonly topologyProblem?: string;
  readonly syncAlways: boolean | undefined;
  readonly durability: 'always' | 'interval';
  readonly clockSkewMs: number | undefined;
  /** Whether the servers to use are those that a local cluster would start. */
  readonly isLocal: boolean;
  readonly ports: readonly {
    readonly port: number;
    readonly use: string;
    readonly state: 'free' | 'ours' | 'foreign';
  }[];
  readonly scrapers: {
    readonly names: readonly string[];
    readonly problems: readonly { readonly file: string; readonly reason: string }[];
  };
  readonly disk:
    { readonly freeBytes: number; readonly usedBytes: number; readonly limitBytes: number } | undefined;
}

const SKEW_WARN_MS = 500;
const SKEW_FAIL_MS = 5_000;

export function diagnose(facts: Facts): Finding[] {
  const findings = [checkNode(facts), checkServer(facts)];
  if (facts.server) findings.push(checkJetstream(facts));
  if (facts.server && facts.jetstream)
    findings.push(checkTopology(facts), checkDurability(facts), checkClock(facts));
  findings.push(...facts.ports.map((port) => checkPort(facts, port)), checkDisk(facts));
  findings.push(...checkScrapers(facts));
  return findings;
}

/** Here, with these settings; workers on other machines have their own. */
function checkScrapers({ scrapers: { names, problems } }: Facts): Finding[] {
  const check = 'scrapers';
  const loaded: Finding = {
    check,
    level: 'ok',
    detail: names.length === 0 ? 'none here' : `${names.length}: ${[...names].sort().join(', ')}`,
  };
  return [
    loaded,
    ...problems.map(({ file, reason }): Finding => ({
      check,
      level: 'warn',
      detail: `${file} is left out: ${reason}`,
      todo: 'Mend it, or set worker.scrapers; workers load them when they start.',
    })),
  ];
}

function checkNode({ nodeVersion }: Facts): Finding {
  const check = 'node';
  if (isAtLeast(nodeVersion, MIN_NODE_VERSION)) return { check, level: 'ok', detail: `Node ${nodeVersion}` };
  return {
    check,
    level: 'fail',
    detail: `Node ${nodeVersion} is too old`,
    todo: `Install Node ${MIN_NODE_VERSION} or newer.`,
  };
}

function checkServer({ server, serverProblem }: Facts): Finding {
  const check = 'nats-server';
  if (!server) {
    const detail = serverProblem?.detail ?? 'no server answers';
    const todo = serverProblem?.todo ?? 'Start the local cluster with `trawl up`, or set nats.url.';
    return { check, level: 'fail', detail, todo };
  }
  const detail = `${server.name}, version ${server.version}`;
  if (isAtLeast(server.version, MIN_SERVER_VERSION)) return { check, level: 'ok', detail };
  return { check, level: 'fail', detail, todo: `Upgrade the server to ${MIN_SERVER_VERSION} or newer.` };
}

function checkJetstream({ jetstream }: Facts): Finding {
  const check = 'jetstream';
  if (jetstream) return { check, level: 'ok', detail: 'enabled' };
  return {
    check,
    level: 'fail',
    detail: 'does not answer',
    todo: 'Enable JetStream in the server, and for this account.',
  };
}

function checkTopology({ topology, topologyProblem }: Facts): Finding {
  const check = 'topology';
  if (topologyProblem !== undefined)
    return { check, level: 'fail', detail: topologyProblem, todo: 'Look at the log of the server.' };
  const wrong = topology.filter((item) => item.state !== 'same');
  if (wrong.length === 0)
    return { check, level: 'ok', detail: `${topology.length} streams, buckets and consumers as defined` };
  const missing = wrong.some((item) => item.state === 'missing');
  return {
    check,
    level: missing ? 'fail' : 'warn',
    detail: wrong
      .map((item) => `${item.name} ${item.state === 'missing' ? 'is missing' : `differs (${item.detail})`}`)
      .join('; '),
    todo: '`trawl topology diff` shows it, `trawl topology apply` mends it.',
  };
}

function checkDurability({ syncAlways, durability }: Facts): Finding {
  const check = 'durability';
  if (syncAlways === undefined) {
    return {
      check,
      level: 'skip',
      detail: "unknown: the server's monitoring page is not reachable from here",
    };
  }
  const actual = syncAlways ? 'always' : 'interval';
  const meaning = syncAlways
    ? 'an acknowledgement means fsync'
    : 'an OS crash may lose the last acknowledgements';
  if (actual === durability) return { check, level: 'ok', detail: `${actual}: ${meaning}` };
  return {
    check,
    level: durability === 'always' ? 'fail' : 'warn',
    detail: `the server syncs ${syncAlways ? 'always' : 'at intervals'}, the configuration says ${durability}`,
    todo: 'Restart the cluster (`trawl down`, `trawl up`), or set durability to what the server does.',
  };
}

function checkClock({ clockSkewMs }: Facts): Finding {
  const check = 'clock';
  if (clockSkewMs === undefined) return { check, level: 'skip', detail: 'the server did not tell its time' };
  const skewMs = Math.round(Math.abs(clockSkewMs));
  const detail = `${skewMs} ms apart from the server`;
  if (skewMs < SKEW_WARN_MS) return { check, level: 'ok', detail };
  const todo = 'Run a time service (NTP) on both machines: ages and schedules are compared across them.';
  return { check, level: skewMs < SKEW_FAIL_MS ? 'warn' : 'fail', detail, todo };
}

function checkPort({ server, isLocal }: Facts, { port, use, state }: Facts['ports'][number]): Finding {
  const check = 'port';
  if (state === 'ours') return { check, level: 'ok', detail: `${port} (${use}) is ours` };
  if (state === 'free') return { check, level: 'ok', detail: `${port} (${use}) is free` };
  const detail = `${port} (${use}) is taken by another program`;
  // Where another server is used, or has the place of ours, nobody misses the port until a local cluster is to start.
  if (server || !isLocal) {
    const todo = 'Only a local cluster would need it: move that with local.portBase (--port-base) first.';
    return { check, level: 'warn', detail, todo };
  }
  const todo = 'Stop it, or move the cluster with local.portBase (--port-base).';
  return { check, level: 'fail', detail, todo };
}

function checkDisk({ disk }: Facts): Finding {
  const check = 'disk';
  if (!disk) return { check, level: 'skip', detail: 'no local data folder' };
  const growthBytes = Math.max(0, disk.limitBytes - disk.usedBytes);
  const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
  const detail = `${gib(disk.freeBytes)} free, data may grow by ${gib(growthBytes)}`;
  if (disk.freeBytes > growthBytes) return { check, level: 'ok', detail };
  return {
    check,
    level: 'warn',
    detail,
    todo: 'Free some space or lower local.maxStore: a server on a full disk stops until it is restarted, one at its limit says so.',
  };
}
