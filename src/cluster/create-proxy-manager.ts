/** A proxy-manager as the configuration wants it: the book, the bucket under its lock, the desk, and the probes. */
import { createProxyManager, type ProxyManagerLimits } from '../actors/proxy-manager.ts';
import type { Counter, EgressTerm, ProxyManagerPorts } from '../actors/proxy-manager/ports.ts';
import type { Config } from '../config/fields.ts';
import { limitsByRules, type HostRule } from '../domain/host-rules.ts';
import { openBucket } from '../nats/bucket.ts';
import { openEgressDesk } from '../nats/egress-desk.ts';
import { decodeRecords, encodeWrite } from '../nats/egress-records.ts';
import { createEgressStore } from '../nats/egress-store.ts';
import { runAsLeader } from '../nats/leader.ts';
import type { Lock } from '../nats/lock.ts';
import { BOOK_DEFAULTS, type BookLimits } from '../policy/egress/limits.ts';
import type { EgressEvent } from '../policy/egress/records.ts';
import type { Actor } from '../runtime/actor.ts';
import { createHostServices } from '../services/hosts.ts';
import { createProxyServices } from '../services/proxies.ts';
import { createSessionServices } from '../services/sessions.ts';
import { createEgressMetrics } from '../telemetry/egress-metrics.ts';
import { VERSION } from '../version.ts';
import { encode } from '../wire/codec.ts';
import { sealAddress } from '../wire/proxy-record.ts';
import { createSeal, type Seal } from '../wire/sealed.ts';
import { openReport, sealReply } from '../wire/sealed-sessions.ts';
import { probeProxy } from './probe-proxy.ts';
import type { ActorParts } from './roles.ts';

const LOCK = 'proxy-manager';
const PROBES_MAX = 50;

export type ProxyManagerSurroundings = Pick<
  ActorParts,
  'config' | 'names' | 'connection' | 'id' | 'log' | 'announce' | 'registry'
>;

export function createClusterProxyManager(parts: ProxyManagerSurroundings): Actor {
  const { config, connection, names, log, announce, registry } = parts;
  const meters = createEgressMetrics(registry);
  return {
    role: LOCK,
    async run(stop) {
      const limits = await readLimits(config);
      const seal = createSeal(config.egress.key);
      if (!config.egress.key)
        log.warn('egress.unsealed', { hint: 'Set egress.key: NATS sees the credentials.' });
      const probing = await openProbes(config);
      const ports: ProxyManagerPorts = {
        lead: (quiet, work) => lead(parts, { quiet, work, seal, limits: limits.book }),
        sealAddress: (proxy) => sealAddress(proxy, seal),
        probe: probing?.probe,
        announce: (event) => announce(newsOf(event)),
        broadcast: (news) => {
          connection.nc.publish(names.broadcast('egress'), encode(news));
        },
        // Nobody sets this clock while we run, so no window is cut short by somebody who does.
        now: () => Math.round(performance.timeOrigin + performance.now()),
        random: Math.random,
        meters,
        log,
      };
      try {
        await createProxyManager(ports, limits).run(stop);
      } finally {
        await probing?.close();
      }
    },
  };
}

/** The lock lies in the bucket that it protects: only there can the server fence a write by it. */
function lead(
  parts: ProxyManagerSurroundings,
  options: {
    quiet: AbortSignal;
    work: (term: EgressTerm) => Promise<void>;
    seal: Seal;
    limits: BookLimits;
  },
): Promise<void> {
  const { config, connection, names, id, log, announce } = parts;
  const { quiet, work, seal, limits } = options;
  const bucket = openBucket(connection, names.bucket('egress'));
  return runAsLeader({
    bucket,
    name: LOCK,
    ttlMs: config.leader.ttl,
    owner: id,
    log,
    quiet,
    async lead(lock: Lock, over) {
      announce({ about: 'leader', kind: 'elected', facts: { role: LOCK, id } });
      const store = createEgressStore(connection, { bucket: bucket.name, lock });
      try {
        await work({
          over,
          // The lock's first token: nobody ever gets it again.
          name: lock.token().toString(36),
          load: async () => decodeRecords(await store.load(), { seal, log }),
          commit: (writes) => store.commit(writes.map((write) => encodeWrite(write, seal))),
          serve: (counter) =>
            openEgressDesk(connection, {
              names,
              version: VERSION,
              acquire: async (request) => sealReply(await counter.acquire(request), seal),
              report: (report) => counter.report(openReport(report, seal)),
              gauges: () => counter.look((book, now) => book.gauges(now)),
              verbs: verbsOf(counter, limits),
            }),
        });
      } finally {
        store.close();
      }
    },
  });
}

function verbsOf(counter: Counter, { proxyCaps }: BookLimits): Parameters<typeof openEgressDesk>[1]['verbs'] {
  return {
    ...createProxyServices(counter, proxyCaps),
    ...createHostServices(counter),
    ...createSessionServices(counter),
  };
}

/** The state is the kind of the event: `trawl.event.proxy.disabled`. */
function newsOf({ kind: about, ...facts }: EgressEvent): { about: string; kind: string; facts: object } {
  return { about, kind: facts.to, facts };
}

async function readLimits({ egress, fetch }: Config): Promise<ProxyManagerLimits> {
  const { perHour, perMinute, hostDelay, hostEgressDelay, hostConcurrency, jitter } = egress;
  const defaults = {
    ...BOOK_DEFAULTS.hostLimits,
    delayMs: hostDelay,
    egressDelayMs: hostEgressDelay,
    concurrency: hostConcurrency,
    jitter: jitter / 100,
  };
  const rules = await readRules(egress.hostsFile);
  return {
    probesMax: PROBES_MAX,
    book: {
      ...BOOK_DEFAULTS,
      proxyCaps: { perHour, perMinute },
      hostLimits: defaults,
      ...(rules.length > 0 && { hostLimitsOf: (host: string) => limitsByRules(host, { defaults, rules }) }),
      proxiesPerWorkerMax: egress.maxPerWorker,
      leaseMs: egress.leaseTtl,
      flightMs: egress.leaseTtl / 2,
      retryAfterMaxMs: egress.retryAfterMax,
      robots: fetch.robots,
      ...(egress.probeUrl !== undefined && {
        probe: { intervalMs: egress.probeInterval, timeoutMs: egress.probeTimeout },
      }),
    },
  };
}

/** Loaded when there is a file: its parser takes a while. */
async function readRules(path: string | undefined): Promise<readonly HostRule[]> {
  if (path === undefined) return [];
  const { readHostRules } = await import('../config/host-rules.ts');
  return readHostRules(path, process.cwd());
}

interface Probing {
  readonly probe: NonNullable<ProxyManagerPorts['probe']>;
  close(): Promise<void>;
}

/** The same for the engine: who does not probe needs none. */
async function openProbes({ egress, fetch }: Config): Promise<Probing | undefined> {
  const { probeUrl, probeTimeout, probeStatus } = egress;
  if (probeUrl === undefined) return undefined;
  const { createHttpEngine } = await import('../http/engine.ts');
  const engine = createHttpEngine({
    allowLoopback: fetch.allowLoopback ?? [],
    poolsMax: PROBES_MAX,
    connectionsPerOrigin: 1,
  });
  const options = { url: probeUrl, timeoutMs: probeTimeout, status: probeStatus };
  return {
    probe: (proxy, signal) => probeProxy(engine, proxy, { ...options, signal }),
    close: () => engine.close(),
  };
}
