/**
 * Exporter: one truthful look at the whole cluster, for Prometheus, for people, and for whoever decides by it. Many may
 * ask; one look answers all that ask at about the same time. When NATS does not answer there is no look, and nothing
 * old stands in for it.
 */
import type { Beat } from '../domain/beat.ts';
import type { ClusterFacts } from '../domain/cluster-facts.ts';
import { Failure, messageOf } from '../domain/failure.ts';
import type { Snapshot } from '../domain/snapshot.ts';
import { listTargets } from '../policy/targets.ts';
import type { Actor, PageAnswer, Stop } from '../runtime/actor.ts';
import { describeCluster } from '../telemetry/cluster-metrics.ts';
import { renderFamilies, type Family } from '../telemetry/exposition.ts';
import type { Log } from '../telemetry/log.ts';

export interface ExporterPorts {
  /** Follows what is to be followed; resolves when all that is there has been heard. */
  begin(stop: Stop): Promise<void>;
  /** Looks at the cluster now. */
  look(): Promise<ClusterFacts>;
  beats(): readonly Beat[];
  now(): number; // monotonic ms
  readonly log: Log;
}

export interface ExporterLimits {
  /** How old a look may be that answers one more question. */
  readonly freshMs: number;
  readonly lookMaxMs: number;
  /** Looks by itself this often, to know what was of late. */
  readonly everyMs: number;
}

export const EXPORTER_DEFAULTS: ExporterLimits = { freshMs: 1_000, lookMaxMs: 4_000, everyMs: 10_000 };

export interface Exporter extends Actor {
  snapshot(): Promise<Snapshot>;
}

export function createExporter(ports: ExporterPorts, limits: ExporterLimits = EXPORTER_DEFAULTS): Exporter {
  let begin = (): void => undefined;
  /** Before it has heard of everything it could only tell of a part. */
  const begun = new Promise<void>((resolve) => (begin = resolve));
  let failures = 0;
  let wasWell = true;
  let last: { readonly at: number; readonly facts: ClusterFacts } | undefined;
  let looking: Promise<ClusterFacts> | undefined;

  return {
    role: 'exporter',
    snapshot: async () => (await look()).snapshot,
    async run(stop) {
      await ports.begin(stop);
      begin();
      await everySoOften(stop.quiet);
    },
    metrics: async () => {
      const facts = await look().catch(() => undefined);
      return renderFamilies([...(facts ? describeCluster(facts) : []), failureFamily(failures)]);
    },
    pages: {
      '/snapshot': async () => {
        try {
          return json(200, (await look()).snapshot);
        } catch (error) {
          return json(503, { error: messageOf(error) });
        }
      },
      '/targets': async () => json(200, listTargets(ports.beats())),
    },
  };

  function look(): Promise<ClusterFacts> {
    if (last && ports.now() - last.at <= limits.freshMs) return Promise.resolve(last.facts);
    looking ??= lookNow().finally(() => (looking = undefined));
    return looking;
  }

  async function lookNow(): Promise<ClusterFacts> {
    try {
      const facts = await inTime(begun.then(() => ports.look()));
      last = { at: ports.now(), facts };
      if (!wasWell) ports.log.info('snapshot.recovered');
      wasWell = true;
      return facts;
    } catch (error) {
      failures += 1;
      if (wasWell) ports.log.warn('snapshot.failed', { reason: messageOf(error) });
      wasWell = false;
      throw error;
    }
  }

  function inTime(facts: Promise<ClusterFacts>): Promise<ClusterFacts> {
    const words = `the cluster could not be looked at within ${limits.lookMaxMs} ms`;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Failure('TIMEOUT', words)), limits.lookMaxMs);
      facts.then(resolve, reject).finally(() => clearTimeout(late));
    });
  }

  function everySoOften(quiet: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      // What it finds is noted where it is made; that it failed is counted.
      const timer = setInterval(() => void look().catch(() => undefined), limits.everyMs);
      const end = (): void => {
        clearInterval(timer);
        resolve();
      };
      void look().catch(() => undefined);
      if (quiet.aborted) end();
      else quiet.addEventListener('abort', end, { once: true });
    });
  }
}

function failureFamily(value: number): Family {
  return {
    name: 'trawl_snapshot_failures_total',
    help: 'Looks at the whole cluster that failed.',
    type: 'counter',
    lines: [{ value }],
  };
}

function json(status: number, value: unknown): PageAnswer {
  return { status, contentType: 'application/json; charset=utf-8', text: `${JSON.stringify(value)}\n` };
}
