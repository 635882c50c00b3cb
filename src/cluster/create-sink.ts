/** A sink as its description wants it: the lock, the ledger, the target. */
import { createSink } from '../actors/sink.ts';
import type { SinkPorts, SinkTerm } from '../actors/sink/ports.ts';
import { Failure } from '../domain/failure.ts';
import { shortHash } from '../domain/task-id.ts';
import type { SinkRecord, SinkSpec } from '../domain/sink.ts';
import { readBlob } from '../nats/blobs.ts';
import { runAsLeader } from '../nats/leader.ts';
import type { Lock } from '../nats/lock.ts';
import { openTail, readLedger } from '../nats/sink-tail.ts';
import { readReplay, sinkLock } from '../nats/sinks.ts';
import type { Actor } from '../runtime/actor.ts';
import type { SinkTarget } from '../sinks/target.ts';
import { createSinkMetrics } from '../telemetry/sink-metrics.ts';
import { keys } from '../wire/names.ts';
import { decodeSink, encodeSink } from '../wire/sink-record.ts';
import { decodeEmitted } from '../wire/task-codec.ts';
import type { ActorParts } from './roles.ts';

export function createClusterSink(parts: ActorParts): Actor {
  const { sink: spec, connection, names, log, registry, untilEmpty } = parts;
  if (!spec)
    throw new Failure('INVALID', 'a sink needs a name and a target', {
      hint: 'trawl sink NAME --type ndjson --path out',
    });
  return {
    role: 'sink',
    async run(stop) {
      const createTarget = await loadTarget(spec);
      const ports: SinkPorts = {
        lead: (quiet, work) => lead(parts, { spec, quiet, work }),
        createTarget,
        readLedger: (signal) => readLedger(connection, { names, signal }),
        openTail: (place, signal) =>
          openTail(connection, { names, sink: spec.name, run: spec.run, ...place, signal }),
        async complete(record) {
          const { blob, ...result } = record.result;
          if (!blob) return record;
          const bytes = await readBlob(connection, names, { owner: record.spec, ref: blob });
          return { ...record, result: { ...result, ...decodeEmitted(bytes) } };
        },
        about: describeSink(spec),
        meters: createSinkMetrics(registry, spec.name),
        log: log.child({ sink: spec.name }),
        now: Date.now,
        random: Math.random,
      };
      await createSink(ports, { kinds: spec.kinds, untilEmpty: untilEmpty !== undefined }).run(stop);
    },
  };
}

function lead(
  { config, bucket, id, log, announce }: ActorParts,
  { spec, quiet, work }: { spec: SinkSpec; quiet: AbortSignal; work: (term: SinkTerm) => Promise<void> },
): Promise<void> {
  return runAsLeader({
    bucket,
    name: sinkLock(spec.name),
    ttlMs: config.leader.ttl,
    owner: id,
    log,
    quiet,
    async lead(lock: Lock, over) {
      announce({ about: 'sink', kind: 'started', facts: { sink: spec.name, id } });
      await work({
        over,
        check: () => void lock.token(),
        async load() {
          const entry = await bucket.get(keys.sink(spec.name));
          return entry && decodeSink(entry.value);
        },
        async save(record) {
          await lock.fencedPut(keys.sink(spec.name), encodeSink(record));
        },
        async watchReplays(listener) {
          const tell = (value: Uint8Array | undefined): void => {
            const token = value && readReplay(value);
            if (token !== undefined) listener(token);
          };
          await bucket.watch(keys.sinkReplay(spec.name), ({ entry }) => tell(entry?.value), over);
        },
      });
    },
  });
}

function describeSink(spec: SinkSpec): SinkPorts['about'] {
  const { name, type, run, kinds } = spec;
  const target = describeTarget(spec);
  // A sink of files knows by itself where it stands: its folder may move.
  const place =
    type === 'postgres' ? `${spec.url.reveal()} ${spec.table}` : type === 'webhook' ? spec.url.reveal() : '';
  const identity = shortHash(JSON.stringify([type, place, run, kinds]));
  return {
    name,
    type,
    target,
    identity,
    ...(run !== undefined && { run }),
    ...(kinds && { kinds }),
  } satisfies Omit<SinkRecord, 'checkpoint' | 'updatedAt' | 'error'>;
}

/** Where the items go, for people: an address may hold a password, and a path may be one. */
function describeTarget(spec: SinkSpec): string {
  switch (spec.type) {
    case 'ndjson':
    case 'csv':
      return spec.path;
    case 'postgres': {
      const { hostname, port, pathname } = new URL(spec.url.reveal());
      return `${hostname}${port === '' ? '' : `:${port}`}${pathname} ${spec.table}`;
    }
    case 'webhook':
      return new URL(spec.url.reveal()).origin;
    case 'stdout':
      return 'stdout';
  }
}

/** Loaded when they are wanted: nobody waits for what the other types need. */
async function loadTarget(spec: SinkSpec): Promise<() => SinkTarget> {
  switch (spec.type) {
    case 'ndjson':
    case 'csv': {
      const { createFileTarget } = await import('../sinks/file-target.ts');
      return () => createFileTarget(spec);
    }
    case 'postgres': {
      const { createPostgresTarget } = await import('../sinks/postgres-target.ts');
      return () => createPostgresTarget(spec);
    }
    case 'webhook': {
      const { createWebhookTarget } = await import('../sinks/webhook-target.ts');
      const { createHttpEngine } = await import('../http/engine.ts');
      const engine = { allowLoopback: [], anyAddress: true, poolsMax: 1, connectionsPerOrigin: 1 };
      return () => createWebhookTarget(spec, { engine: () => createHttpEngine(engine) });
    }
    case 'stdout': {
      const { createStdoutTarget } = await import('../sinks/stdout-target.ts');
      return () => createStdoutTarget();
    }
  }
}
