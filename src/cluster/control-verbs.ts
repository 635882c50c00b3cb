/** What every actor's mailbox understands. */
import * as v from 'valibot';
import { Failure } from '../domain/failure.ts';
import type { Identity } from '../nats/identity.ts';
import type { Verb } from '../nats/mailbox.ts';
import type { StopControl } from '../runtime/actor.ts';
import type { Gate } from '../runtime/gate.ts';
import { LEVELS, type Log } from '../telemetry/log.ts';

export interface ControlParts {
  readonly identity: Identity;
  readonly control: StopControl;
  readonly gate: Gate;
  readonly log: Log;
}

/** `finish`: however long its tasks take; otherwise they are given back after the grace. */
const drainRequest = v.object({ finish: v.optional(v.boolean(), false) });
const levelRequest = v.object({ level: v.picklist(LEVELS) });

export function createVerbs({ identity, control, gate, log }: ControlParts): Record<string, Verb> {
  return {
    status: () => identity.beat(),
    drain(body) {
      const request = v.safeParse(drainRequest, body ?? {});
      if (!request.success) throw new Failure('INVALID', 'drain wants nothing, or {"finish": true}');
      if (request.output.finish) control.drain();
      else control.quiet();
      return { ok: true, status: 'draining' };
    },
    stop() {
      // The answer goes out first: ending closes the connection.
      setImmediate(() => control.abort());
      return { ok: true, status: 'stopping' };
    },
    async pause() {
      gate.close();
      await identity.update({ paused: true });
      return { ok: true, paused: true };
    },
    async resume() {
      gate.open();
      await identity.update({ paused: false });
      return { ok: true, paused: false };
    },
    'log-level'(body) {
      const request = v.safeParse(levelRequest, body);
      if (!request.success) {
        throw new Failure('INVALID', `log-level wants {"level": "${LEVELS.join('|')}"}`);
      }
      log.setLevel(request.output.level);
      return { ok: true, level: request.output.level };
    },
  };
}
