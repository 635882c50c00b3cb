/** Which numbers were seen, where nearly all come in order: all below `low`, and a few above. */
export interface NumberSet {
  low: number;
  /** Absent where none is, as nearly always. */
  above: Set<number> | undefined;
}

/** Beyond this many gaps the oldest are taken for seen: a lease has no more requests under way at once. */
const ABOVE_MAX = 4_096;

export function createNumberSet(low = 0, above: readonly number[] = []): NumberSet {
  return { low, above: above.length > 0 ? new Set(above) : undefined };
}

/** False: it was seen before. */
export function addNumber(set: NumberSet, n: number): boolean {
  if (n < set.low || set.above?.has(n)) return false;
  if (n === set.low && !set.above) {
    set.low += 1;
    return true;
  }
  const above = (set.above ??= new Set());
  above.add(n);
  while (above.delete(set.low) || above.size > ABOVE_MAX) set.low += 1;
  if (above.size === 0) set.above = undefined;
  return true;
}

export function countNumbers({ low, above }: NumberSet): number {
  return low + (above?.size ?? 0);
}
