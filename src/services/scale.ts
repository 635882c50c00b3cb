/** What the autoscaler that leads answers: how many workers there shall be, and why there are as many as there are. */
import * as v from 'valibot';
import type { Verb } from '../nats/mailbox.ts';
import { readRequest } from './read-request.ts';

const request = v.object({
  role: v.literal('worker', 'only workers can be scaled'),
  count: v.pipe(v.number(), v.integer(), v.minValue(0)),
});

export function createScaleServices(desk: {
  scale(count: number): Promise<object>;
  status(): object;
}): Record<string, Verb> {
  return {
    scale: (body) => desk.scale(readRequest(request, body).count),
    'scale.status': () => desk.status(),
  };
}
