/** Pausing scrapers, hosts, or everything; runs have a state of their own. */
import * as v from 'valibot';
import { Failure } from '../domain/failure.ts';
import type { Verb } from '../nats/mailbox.ts';
import type { Pauses } from '../nats/pauses.ts';
import { readRequest } from './read-request.ts';

const KINDS = ['cluster', 'scraper', 'host'] as const;
const request = v.object({ kind: v.picklist(KINDS), name: v.optional(v.string()) });

export function createPauseServices(pauses: Pauses): Record<string, Verb> {
  return {
    async pause(body) {
      const { kind, name } = target(body);
      await pauses.pause(kind, name);
      return { paused: await pauses.list() };
    },
    async resume(body) {
      const { kind, name } = target(body);
      await pauses.resume(kind, name);
      return { paused: await pauses.list() };
    },
  };
}

function target(body: unknown): { kind: (typeof KINDS)[number]; name: string } {
  const { kind, name } = readRequest(request, body);
  if (kind === 'cluster') return { kind, name: 'all' };
  if (name === undefined || name === '') throw new Failure('INVALID', `say which ${kind}`);
  return { kind, name };
}
