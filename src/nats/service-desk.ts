/**
 * The services that any actor of one role answers, as one NATS micro service in one queue group: each request goes to
 * one of them, whichever is free. Bodies and answers are JSON; an error comes as `{"error": …}`.
 */
import { Svcm, type ServiceMsg } from '@nats-io/services';
import { asFailure } from '../domain/failure.ts';
import { decode, encodeJson } from '../wire/codec.ts';
import type { Names } from '../wire/names.ts';
import type { Connection } from './connect.ts';
import type { Verb } from './mailbox.ts';

export interface ServiceDeskOptions {
  readonly names: Names;
  readonly version: string;
  readonly verbs: Readonly<Record<string, Verb>>;
  /** Whose desk it is; the coordinators', if nothing is said. */
  readonly desk?: { readonly name: string; readonly description: string; readonly queue: string };
}

const COORDINATORS = { name: 'services', description: 'What any coordinator answers', queue: 'coordinators' };

const STATUS = 400;

/** Opens the desk and returns its undo. */
export async function openServiceDesk(
  { nc }: Connection,
  { names, version, verbs, desk = COORDINATORS }: ServiceDeskOptions,
): Promise<() => Promise<void>> {
  const service = await new Svcm(nc).add({
    name: `${names.namespace}-${desk.name}`,
    version,
    description: desk.description,
    queue: desk.queue,
  });
  for (const [verb, act] of Object.entries(verbs)) {
    service.addEndpoint(verb.replaceAll('.', '-'), {
      subject: names.service(verb),
      handler: (error, message) => {
        if (!error) void answer(message, act);
      },
    });
  }
  return async () => {
    await service.stop();
  };
}

async function answer(message: ServiceMsg, act: Verb): Promise<void> {
  try {
    message.respond(encodeJson(await act(message.data.length === 0 ? undefined : decode(message.data))));
  } catch (error) {
    const { code, message: reason, hint } = asFailure(error);
    // The error goes into the body as well: the CLI prints the body and ignores the error headers.
    message.respondError(STATUS, reason, encodeJson({ error: { code, message: reason, hint } }));
  }
}
