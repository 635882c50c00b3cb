/** Accepts one record in the ledger. */
import type { ChangeOutcome } from '../../src/nats/commit-lane.ts';
import type { Acceptable, LedgerWriter } from '../../src/nats/ledger.ts';

export async function acceptOne(
  writer: Pick<LedgerWriter, 'accept'>,
  record: Acceptable,
): Promise<ChangeOutcome> {
  const [outcome] = await writer.accept([record]);
  if (!outcome) throw new Error('no outcome');
  return outcome;
}
