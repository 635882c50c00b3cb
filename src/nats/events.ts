/** Tells the cluster what happened, on `EVENTS`. An event is news, not work: one that cannot be stored is logged and let go. */
import { messageOf } from '../domain/failure.ts';
import type { Log } from '../telemetry/log.ts';
import { encodeJson } from '../wire/codec.ts';
import type { Names } from '../wire/names.ts';
import type { Connection } from './connect.ts';

export interface News {
  readonly about: string;
  readonly kind: string;
  readonly facts: object;
}

export function announce(
  { connection, names, log }: { connection: Connection; names: Names; log: Log },
  { about, kind, facts }: News,
): void {
  log.info(`${about}.${kind}`, { facts });
  connection.js
    .publish(names.event(about, kind), encodeJson({ at: Date.now(), about, kind, ...facts }))
    .catch((error: unknown) => log.warn('event.unstored', { about, kind, reason: messageOf(error) }));
}
