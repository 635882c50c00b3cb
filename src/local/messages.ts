/** What passes between a supervisor and those who talk to it: its launcher, and clients of its control socket. */
import * as v from 'valibot';
import { Failure, type FailureCode } from '../domain/failure.ts';
import { clusterState } from './state.ts';

const progress = v.object({
  step: v.picklist(['fetching', 'waiting', 'cleaning', 'starting', 'stopping', 'ready']),
  text: v.string(),
});

const failure = v.object({ code: v.string(), message: v.string(), hint: v.nullable(v.string()) });

/** From the supervisor to the process that launched it. */
const launchMessage = v.variant('type', [
  v.object({ type: v.literal('hello') }),
  v.object({ type: v.literal('progress'), progress }),
  v.object({ type: v.literal('busy'), pid: v.number(), role: v.string() }),
  v.object({ type: v.literal('up'), state: clusterState }),
  v.object({ type: v.literal('failed'), failure }),
]);

/** A line from a client of the control socket. */
const controlRequest = v.variant('op', [
  v.object({ op: v.literal('status') }),
  v.object({ op: v.literal('ready') }),
  v.object({ op: v.literal('stop') }),
  /** So many workers more. */
  v.object({ op: v.literal('add-workers'), count: v.pipe(v.number(), v.integer(), v.minValue(1)) }),
  /** This worker drains: when it has ended, it is not started again. */
  v.object({ op: v.literal('let-go'), name: v.string() }),
]);

/** A line to a client: `heard` at once, then any progress, then one of the last two. */
const controlReply = v.variant('type', [
  v.object({ type: v.literal('heard') }),
  v.object({ type: v.literal('progress'), progress }),
  v.object({ type: v.literal('state'), state: clusterState }),
  v.object({ type: v.literal('failed'), failure }),
]);

export type LaunchMessage = v.InferOutput<typeof launchMessage>;
export type ControlRequest = v.InferOutput<typeof controlRequest>;
export type ControlReply = v.InferOutput<typeof controlReply>;
type WireFailure = v.InferOutput<typeof failure>;

export function parseLaunchMessage(input: unknown): LaunchMessage | undefined {
  const parsed = v.safeParse(launchMessage, input);
  return parsed.success ? parsed.output : undefined;
}

export function parseControlRequest(line: string): ControlRequest | undefined {
  const parsed = v.safeParse(controlRequest, fromJson(line));
  return parsed.success ? parsed.output : undefined;
}

export function parseControlReply(line: string): ControlReply | undefined {
  const parsed = v.safeParse(controlReply, fromJson(line));
  return parsed.success ? parsed.output : undefined;
}

export function packFailure({ code, message, hint }: Failure): WireFailure {
  return { code, message, hint: hint ?? null };
}

export function unpackFailure({ code, message, hint }: WireFailure): Failure {
  // Both sides are one program; a code of another version is shown like any other.
  return new Failure(code as FailureCode, message, hint === null ? {} : { hint });
}

function fromJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
