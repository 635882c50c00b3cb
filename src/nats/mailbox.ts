/**
 * The control mailbox of one actor, as a NATS micro service: `nats micro ls` shows the actor, and every verb is a
 * request that the stock CLI can send, e.g. `nats req trawl.ctl.worker.w1.status ''`. Bodies and replies are JSON.
 */
import { Svcm, type ServiceMsg } from '@nats-io/services';
import type { Role } from '../domain/role.ts';
import { asFailure, Failure, type FailureCode } from '../domain/failure.ts';
import { decode, encodeJson } from '../wire/codec.ts';
import type { Names } from '../wire/names.ts';
import type { Connection } from './connect.ts';

export type Verb = (body: unknown) => unknown;

export interface MailboxOptions {
  readonly names: Names;
  readonly role: Role;
  readonly id: string;
  readonly version: string;
  readonly verbs: Readonly<Record<string, Verb>>;
}

const STATUS_OF: Readonly<Partial<Record<FailureCode, number>>> = {
  INVALID: 400,
  CONFLICT: 409,
  THROTTLED: 429,
};

/** Opens the mailbox and returns its undo. */
export async function openMailbox({ nc }: Connection, options: MailboxOptions): Promise<() => Promise<void>> {
  const { names, role, id, version, verbs } = options;
  const service = await new Svcm(nc).add({
    name: `${names.namespace}-${role}`,
    version,
    description: `Trawl ${role}`,
    metadata: { actor: id, role, namespace: names.namespace },
    // Each actor answers for itself: a queue group would hand its mail to a namesake.
    queue: '',
  });
  const group = service.addGroup(names.mailbox(role, id));
  for (const [verb, act] of Object.entries(verbs)) {
    group.addEndpoint(verb, {
      handler: (error, message) => {
        if (!error) void reply(message, act);
      },
    });
  }
  return async () => {
    await service.stop();
  };
}

async function reply(message: ServiceMsg, act: Verb): Promise<void> {
  try {
    const answer = await act(message.data.length === 0 ? undefined : decode(message.data));
    message.respond(encodeJson(answer ?? { ok: true }));
  } catch (error) {
    const { code, message: reason, hint } = asFailure(error);
    // The error goes into the body as well: the CLI prints the body and ignores the error headers.
    message.respondError(
      STATUS_OF[code] ?? 500,
      reason,
      encodeJson({ error: { code, message: reason, hint } }),
    );
  }
}

/** Sends one verb to one actor and returns its answer. */
export async function askActor(
  { nc }: Connection,
  request: { names: Names; role: Role; id: string; verb: string; body?: unknown; timeoutMs: number },
): Promise<unknown> {
  const { names, role, id, verb, body, timeoutMs } = request;
  const subject = `${names.mailbox(role, id)}.${verb}`;
  const message = await nc
    .request(subject, body === undefined ? undefined : encodeJson(body), { timeout: timeoutMs })
    .catch((cause: unknown) => {
      throw new Failure('UNAVAILABLE', `${role} ${id} does not answer`, {
        cause,
        hint: '`trawl status` shows who is alive.',
      });
    });
  const answer = decode(message.data);
  if (isErrorAnswer(answer)) throw new Failure(answer.error.code, answer.error.message);
  return answer;
}

function isErrorAnswer(answer: unknown): answer is { error: { code: FailureCode; message: string } } {
  return typeof answer === 'object' && answer !== null && 'error' in answer;
}
