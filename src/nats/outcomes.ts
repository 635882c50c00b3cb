/**
 * Stores outcomes of tasks, whatever a handler has emitted. What the ledger cannot hold, because it is too large or no
 * plain data, becomes a dead task that says so: dropped silently it would be lost, and tried again it would be the same.
 */
import { asFailure } from '../domain/failure.ts';
import type { Outcome } from '../domain/task.ts';
import { encodeRecord } from '../wire/task-codec.ts';
import type { LedgerWriter } from './ledger.ts';

export type StoreOutcome = (outcome: Outcome, acceptSeq: number) => ReturnType<LedgerWriter['settle']>;

/** Subject and headers count against the server's limit too. */
const FRAME_BYTES = 1_024;

export function createStoreOutcome(
  writer: Pick<LedgerWriter, 'settle'>,
  maxPayload: () => number,
): StoreOutcome {
  return (outcome, acceptSeq) => {
    const error = problemOf(outcome, maxPayload() - FRAME_BYTES);
    return writer.settle(error ? asDead(outcome, error) : outcome, acceptSeq);
  };
}

type Problem = { readonly code: string; readonly message: string };

/** Only what came from a handler or a submitter can be large. */
function problemOf(outcome: Outcome, maxBytes: number): Problem | undefined {
  const result = outcome.state === 'done' ? outcome.result : undefined;
  const emitted = result && (result.items.length > 0 || result.data !== undefined);
  if (!emitted && outcome.spec.input === undefined) return undefined;
  try {
    const { length } = encodeRecord(outcome);
    if (length <= maxBytes) return undefined;
    return {
      code: 'TOO_BIG',
      message: `its ${result?.items.length ?? 0} items and data take ${length} bytes, and one record holds ${maxBytes}`,
    };
  } catch (error) {
    const { code, message } = asFailure(error);
    return { code, message };
  }
}

function asDead({ spec, at }: Outcome, error: Problem): Outcome {
  // Without its faults it is no larger than the record by which it was accepted.
  return { state: 'dead', spec, at, faults: [], error };
}
