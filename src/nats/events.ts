/** Tells the cluster what happened, on `EVENTS`. An event is news, not work: one that cannot be stored is logged and let go. */
import type { Log } from '../telemetry/log.ts';
import { encodeJson } from '../wire/codec.ts';
import type { Names } from '../wire/names.ts';
import type { Publisher } from './publisher.ts';

export interface News {
  readonly about: string;
  readonly kind: string;
  readonly facts: object;
}

export type Announce = (news: News) => void;

export function createAnnounce(publisher: Publisher, { names, log }: { names: Names; log: Log }): Announce {
  return ({ about, kind, facts }) => {
    log.info(`${about}.${kind}`, { facts });
    const payload = encodeJson({ at: Date.now(), about, kind, ...facts });
    // Two copies of the same news are better than none.
    void publisher
      .publish({ subject: names.event(about, kind), payload, repeatable: true })
      .then((outcome) => {
        if (outcome.kind !== 'stored') log.warn('event.unstored', { about, kind, reason: outcome.reason });
      });
  };
}
