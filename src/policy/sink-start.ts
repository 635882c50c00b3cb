/** Where a target that keeps its own positions goes on, when the cluster says which life this is. */
import { AT_THE_START, type Checkpoint, type SinkLife } from '../domain/sink.ts';

/** A checkpoint at the start of a life. */
export interface Beginning {
  readonly life: SinkLife;
  readonly replayed: string | undefined;
}

export interface SinkStart {
  readonly checkpoint: Checkpoint;
  /**
   * `goes-on`: behind its newest position. `known-ledger`: back in a ledger that it left for another one, behind where
   * it was then. `new-ledger`: nothing of it is delivered. `forgotten`: what is delivered of it shall come again.
   */
  readonly reason: 'goes-on' | 'known-ledger' | 'new-ledger' | 'forgotten';
}

/** The newest position comes first; there is at most one of each ledger. */
export function decideSinkStart(
  positions: readonly (Checkpoint & { readonly life: SinkLife })[],
  { life, replayed }: Beginning,
): SinkStart {
  const found = positions.find((position) => position.life.ledger === life.ledger);
  const beginning = { ...AT_THE_START, life, replayed };
  if (!found) return { reason: 'new-ledger', checkpoint: beginning };
  if (found.life.sink !== life.sink) return { reason: 'forgotten', checkpoint: beginning };
  return { reason: found === positions[0] ? 'goes-on' : 'known-ledger', checkpoint: found };
}
