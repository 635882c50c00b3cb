/** An autoscaler as the configuration wants it: who measures, who carries it out, and the lock under which it acts. */
import { createAutoscaler } from '../actors/autoscaler.ts';
import type { AutoscalerPorts, Measured, ScaleTerm } from '../actors/autoscaler/ports.ts';
import type { Config } from '../config/fields.ts';
import { parseSnapshot } from '../domain/snapshot.ts';
import type { ScaleDriver } from '../drivers/driver.ts';
import { runAsLeader } from '../nats/leader.ts';
import { openServiceDesk } from '../nats/service-desk.ts';
import { createServices } from '../nats/services-client.ts';
import type { Guard } from '../policy/autoscale/caps.ts';
import type { ScaleLimits } from '../policy/autoscale/limits.ts';
import { readLoad } from '../policy/autoscale/load.ts';
import { limitingFactors, workersThatFit } from '../policy/resource-guard.ts';
import type { Actor } from '../runtime/actor.ts';
import { createResourceReader } from '../runtime/resources.ts';
import { createScaleServices } from '../services/scale.ts';
import { VERSION } from '../version.ts';
import { keys } from '../wire/names.ts';
import { decodeScale, encodeScale } from '../wire/scale-record.ts';
import { createDriver } from './create-driver.ts';
import { openPrometheus } from './measure-prometheus.ts';
import type { ActorParts } from './roles.ts';

const LOCK = 'autoscaler';
const SNAPSHOT_MAX_MS = 6_000;

export function createClusterAutoscaler(parts: ActorParts): Actor {
  return {
    role: LOCK,
    async run(stop) {
      const { config, id, log, announce } = parts;
      const driver = await createDriver(parts);
      const source = config.autoscale.source === 'prometheus' ? openPrometheus(parts) : openExporter(parts);
      const ports: AutoscalerPorts = {
        id,
        lead: (quiet, work) => lead(parts, quiet, work),
        measure: () => source.measure(),
        count: (workers) => driver.count(workers),
        apply: (change, signal) => driver.apply(change, signal),
        guard: createGuard(config, driver),
        announce: (kind, facts) => announce({ about: 'scale', kind, facts }),
        now: Date.now,
        log,
      };
      try {
        await createAutoscaler(ports, {
          limits: readLimits(config),
          intervalMs: config.autoscale.interval,
          driver: driver.name,
          source: config.autoscale.source,
        }).run(stop);
      } finally {
        await Promise.all([driver.close(), source.close()]);
      }
    },
  };
}

export function readLimits({ autoscale, worker }: Config): ScaleLimits {
  const { policy, min, max, jobsUp, jobsDown, perWorker } = autoscale;
  return {
    ...{ policy, min, max, jobsUp, jobsDown, perWorker },
    cooldownUpMs: autoscale.cooldownUp,
    cooldownDownMs: autoscale.cooldownDown,
    staleAfterMs: autoscale.staleAfter,
    drainTargetMs: autoscale.drainTarget,
    slots: worker.concurrency,
  };
}

/** The wish lies in the bucket of the lock: only there can the server fence it. */
function lead(
  { config, bucket, connection, names, id, log, announce }: ActorParts,
  quiet: AbortSignal,
  work: (term: ScaleTerm) => Promise<void>,
): Promise<void> {
  return runAsLeader({
    bucket,
    name: LOCK,
    ttlMs: config.leader.ttl,
    owner: id,
    log,
    quiet,
    async lead(lock, over) {
      announce({ about: 'leader', kind: 'elected', facts: { role: LOCK, id } });
      await work({
        over,
        async load() {
          const entry = await bucket.get(keys.scale);
          return entry && decodeScale(entry.value);
        },
        async save(record) {
          await lock.fencedPut(keys.scale, encodeScale(record));
        },
        serve: (desk) =>
          openServiceDesk(connection, {
            names,
            version: VERSION,
            verbs: createScaleServices(desk),
            desk: {
              name: 'scale',
              description: 'What the autoscaler that leads answers',
              queue: 'autoscalers',
            },
          }),
      });
    },
  });
}

function openExporter({ connection, names }: ActorParts): {
  measure(): Promise<Measured>;
  close(): Promise<void>;
} {
  const services = createServices(connection, names, {
    nobody: 'no exporter answers',
    hint: '`trawl status` shows who is alive; `trawl exporter` starts one.',
    patienceMs: 0,
  });
  return {
    async measure() {
      const snapshot = parseSnapshot(await services.call('snapshot', {}, { timeoutMs: SNAPSHOT_MAX_MS }));
      return { load: readLoad(snapshot), workers: snapshot.workers };
    },
    close: () => Promise.resolve(),
  };
}

/** Only where workers are started on this machine does it matter how this machine is. */
function createGuard({ guard, home }: Config, driver: ScaleDriver): (workers: number) => Guard | undefined {
  if (driver.name !== 'process') return () => undefined;
  const reader = createResourceReader({ diskPath: home });
  return (workers) => {
    const resources = reader.read();
    const { count, reason } = workersThatFit(resources, { workers }, guard);
    const factors = limitingFactors(resources, guard).map(({ factor }) => factor);
    return { factors, fits: count, fitsBy: reason, most: driver.most?.() };
  };
}
