/**
 * Stores outcomes of tasks, whatever a handler has emitted. What one record does not hold goes into pieces beside it,
 * before the record that refers to them. What is larger still, or no plain data, becomes a dead task that says so:
 * dropped silently it would be lost, and tried again it would be the same.
 */
import { asFailure, messageOf } from '../domain/failure.ts';
import type { Outcome } from '../domain/task.ts';
import type { Log } from '../telemetry/log.ts';
import { encodeEmitted, encodeRecord } from '../wire/task-codec.ts';
import type { BlobStore } from './blobs.ts';
import type { LedgerWriter } from './ledger.ts';

export type StoreOutcome = (outcome: Outcome, acceptSeq: number) => ReturnType<LedgerWriter['settle']>;

export interface StoreOutcomeParts {
  readonly writer: Pick<LedgerWriter, 'settle'>;
  readonly blobs: Pick<BlobStore, 'put' | 'remove' | 'removeOthers'>;
  readonly maxPayload: () => number;
  readonly log: Log;
}

type Done = Extract<Outcome, { state: 'done' }>;
type Problem = { readonly code: string; readonly message: string };

/** Subject and headers count against the server's limit too. */
const FRAME_BYTES = 1_024;
/** More than a program that reads results should have to hold for one task. */
const EMITTED_MAX_BYTES = 64 * 1024 * 1024;

export function createStoreOutcome({ writer, blobs, maxPayload, log }: StoreOutcomeParts): StoreOutcome {
  return (outcome, acceptSeq) => {
    const maxBytes = maxPayload() - FRAME_BYTES;
    const { packed, problem } = packOutcome(outcome);
    if (problem) return writer.settle(asDead(outcome, problem), acceptSeq);
    const size = packed?.length ?? 0;
    if (size <= maxBytes) return writer.settle(outcome, acceptSeq, packed);
    if (outcome.state !== 'done' || size > EMITTED_MAX_BYTES)
      return writer.settle(asDead(outcome, tooBig(outcome, size)), acceptSeq);
    return settleLarge(outcome, acceptSeq);
  };

  async function settleLarge(outcome: Done, acceptSeq: number): ReturnType<StoreOutcome> {
    const { spec, result } = outcome;
    const { items, data, ...facts } = result;
    try {
      const ref = await blobs.put(spec, encodeEmitted({ items, data }));
      const blob = { ...ref, items: items.length };
      const settled = await writer.settle({ ...outcome, result: { ...facts, items: [], blob } }, acceptSeq);
      // What is not known to be stored may be: then its pieces are needed.
      if (settled.kind === 'stored') clear(() => blobs.removeOthers(spec, ref.upload));
      if (settled.kind === 'refused') clear(() => blobs.remove(spec, ref.upload));
      return settled;
    } catch (error) {
      return { kind: 'failed', reason: messageOf(error) };
    }
  }

  /** Nobody waits for it; what is left goes with its run. */
  function clear(step: () => Promise<void>): void {
    step().catch((error: unknown) => log.warn('blob.left', { reason: messageOf(error) }));
  }
}

/** Only what came from a handler or a submitter can be large, or no plain data: the rest is packed by whoever stores it. */
function packOutcome(outcome: Outcome): { packed?: Uint8Array; problem?: Problem } {
  const result = outcome.state === 'done' ? outcome.result : undefined;
  const emitted = result && (result.items.length > 0 || result.data !== undefined);
  if (!emitted && outcome.spec.input === undefined) return {};
  try {
    return { packed: encodeRecord(outcome) };
  } catch (error) {
    const { code, message } = asFailure(error);
    return { problem: { code, message } };
  }
}

function tooBig(outcome: Outcome, bytes: number): Problem {
  const items = outcome.state === 'done' ? outcome.result.items.length : 0;
  const message = `its ${items} items and data take ${bytes} bytes: at most ${EMITTED_MAX_BYTES}`;
  return { code: 'TOO_BIG', message };
}

function asDead({ spec, at }: Outcome, error: Problem): Outcome {
  // Without its faults it is no larger than the record by which it was accepted.
  return { state: 'dead', spec, at, faults: [], error };
}
