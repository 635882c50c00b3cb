/**
 * Which proxies to hand out. All ways look at those that are ready and fit for the host, and take the first that the way
 * prefers:
 *
 *   lru       least recently used, never used first, then by id
 *   random    any
 *   weighted  any, the better and heavier ones more often
 *   sticky    the one that a key belongs to (rendezvous hashing), as long as it is fit
 */
import type { Selection } from '../../domain/egress.ts';
import { hashOf } from './pool.ts';
import { compareUse, type Egress } from './entities.ts';
import type { State } from './state.ts';

export interface Choice {
  readonly select: Selection;
  readonly stickTo: string;
  readonly max: number;
  readonly random: () => number;
  /** Whether it may be taken; asked once for each. */
  readonly isFit: (egress: Egress) => boolean;
  /** How much it is preferred, in (0, 1]. */
  readonly preferOf: (egress: Egress) => number;
}

const PROBES_PER_PICK = 8;
const PROBES_MIN = 64;

export function selectProxies(state: State, choice: Choice): Egress[] {
  switch (choice.select) {
    case 'lru':
      return inOrder(state, choice, new Set());
    case 'random':
      return byChance(state, choice, () => 1);
    case 'weighted':
      return byChance(state, choice, choice.preferOf);
    case 'sticky':
      return byKey(state, choice);
  }
}

/** Among these alone. */
export function selectAmong(candidates: readonly Egress[], { max, isFit }: Choice): Egress[] {
  const picks: Egress[] = [];
  for (const egress of [...candidates].sort(compareUse))
    if (picks.length < max && egress.ready && isFit(egress)) picks.push(egress);
  return picks;
}

function inOrder({ ready }: State, { max, isFit }: Choice, asked: ReadonlySet<Egress>): Egress[] {
  const picks: Egress[] = [];
  ready.walk((egress) => {
    if (!asked.has(egress) && isFit(egress)) picks.push(egress);
    return picks.length < max;
  });
  return picks;
}

/** Draws and takes with the probability that it is preferred with; what a row of draws does not find, order does. */
function byChance(state: State, choice: Choice, preferOf: (egress: Egress) => number): Egress[] {
  const { max, random, isFit } = choice;
  const size = state.ready.size();
  const asked = new Set<Egress>();
  const picks: Egress[] = [];
  const draws = Math.min(size * 4, PROBES_MIN + max * PROBES_PER_PICK);
  for (let draw = 0; draw < draws && picks.length < max && asked.size < size; draw += 1) {
    const egress = state.ready.at(Math.floor(random() * size));
    if (!egress || asked.has(egress) || random() >= preferOf(egress)) continue;
    asked.add(egress);
    if (isFit(egress)) picks.push(egress);
  }
  if (picks.length < max && asked.size < size)
    picks.push(...inOrder(state, { ...choice, max: max - picks.length }, asked));
  return picks;
}

/** The highest score of key and proxy: it changes for a key only when its own proxy comes or goes. */
function byKey(state: State, { stickTo, isFit }: Choice): Egress[] {
  const key = hashOf(stickTo);
  let best: Egress | undefined;
  let bestScore = -1;
  state.ready.walk((egress) => {
    const score = mixed(key, egress.hash);
    if (score > bestScore || (score === bestScore && best && egress.id < best.id)) {
      if (isFit(egress)) {
        best = egress;
        bestScore = score;
      }
    }
    return true;
  });
  return best ? [best] : [];
}

function mixed(key: number, id: number): number {
  let mix = Math.imul(key ^ (id + 0x9e3779b9), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}
