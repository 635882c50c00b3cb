/** Asks the services that any coordinator answers. Bodies and answers are JSON; an error comes as `{"error": …}`. */
import { setTimeout as delay } from 'node:timers/promises';
import { asFailure, Failure, isFailureCode } from '../domain/failure.ts';
import { decode, encodeJson } from '../wire/codec.ts';
import type { Names } from '../wire/names.ts';
import { ask, type Answer } from './ask.ts';
import type { Connection } from './connect.ts';

export interface Services {
  call(verb: string, body: object, options?: { readonly timeoutMs?: number }): Promise<unknown>;
}

const ERROR_HEADER = 'Nats-Service-Error-Code';
const TIMEOUT_MS = 10_000;
/** What may lie between the payload and the limit of the server: subject, reply, headers. */
const FRAME_BYTES = 1_024;

/** Who answers, for the words when nobody does. */
export interface Answering {
  readonly nobody: string;
  readonly hint: string;
  /** How long to ask again while nobody is there: it had no effect, and a successor may be on its way. */
  readonly patienceMs: number;
}

const COORDINATOR: Answering = {
  nobody: 'no coordinator answers',
  hint: '`trawl status` shows who is alive; `trawl coordinator` starts one.',
  patienceMs: 0,
};
const PAUSE_MS = 200;

export function createServices(
  connection: Connection,
  names: Names,
  answering: Answering = COORDINATOR,
): Services {
  return {
    async call(verb, body, { timeoutMs = TIMEOUT_MS } = {}) {
      const payload = encodeJson(body);
      const maxBytes = (connection.nc.info?.max_payload ?? Infinity) - FRAME_BYTES;
      if (payload.length > maxBytes)
        throw new Failure('INVALID', `the request has ${payload.length} bytes: at most ${maxBytes}`);
      const until = performance.now() + answering.patienceMs;
      const once = (): Promise<Answer> =>
        ask(connection, { subject: names.service(verb), payload, limitMs: timeoutMs });
      let answer = await once();
      while (answer.kind === 'nobody' && performance.now() < until) {
        await delay(PAUSE_MS);
        answer = await once();
      }
      if (answer.kind === 'nobody')
        throw new Failure('UNAVAILABLE', answering.nobody, { hint: answering.hint });
      if (answer.kind === 'silence')
        throw new Failure('TIMEOUT', `no answer to ${verb} within ${timeoutMs} ms: it may still be done`, {
          hint: 'Look before you ask again: `trawl runs ls`, `trawl status`.',
        });
      const { data, headers } = answer.message;
      const decoded = decodeAnswer(verb, data);
      // The header tells: an answer may well have a field `error` of its own.
      if (headers?.has(ERROR_HEADER)) throw asThrown(verb, decoded);
      return decoded;
    },
  };
}

function asThrown(verb: string, answer: unknown): Failure {
  const told = isRecord(answer) && isRecord(answer['error']) ? answer['error'] : {};
  const { code, message, hint } = told;
  return new Failure(
    isFailureCode(code) ? code : 'INTERNAL',
    typeof message === 'string' ? message : `${verb} failed, and did not say why`,
    typeof hint === 'string' ? { hint } : {},
  );
}

function decodeAnswer(verb: string, data: Uint8Array): unknown {
  try {
    return decode(data);
  } catch (error) {
    throw new Failure('INTERNAL', `the answer to ${verb} cannot be read: ${asFailure(error).message}`, {
      cause: error,
    });
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
