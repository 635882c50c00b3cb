/** Many things in order, in pieces small enough to be cheap to change and few enough to be cheap to search. */
export interface SortedList<T> {
  readonly size: () => number;
  readonly add: (item: T) => void;
  /** It must stand in the order in which it was added. */
  readonly remove: (item: T) => boolean;
  readonly at: (index: number) => T | undefined;
  /** In order, until told to stop by `false`. Nothing may change meanwhile. */
  readonly walk: (visit: (item: T) => boolean) => void;
}

const PIECE_MAX = 128;

export function createSortedList<T>(compare: (a: T, b: T) => number): SortedList<T> {
  const pieces: T[][] = [];
  let size = 0;
  return {
    size: () => size,
    add(item) {
      size += 1;
      const index = Math.min(pieceOf(item), pieces.length - 1);
      const piece = pieces[index];
      if (!piece) {
        pieces.push([item]);
        return;
      }
      const place = placeIn(piece, item);
      // At an end, as nearly always, nothing has to move.
      if (place === piece.length) piece.push(item);
      else piece.splice(place, 0, item);
      if (piece.length > PIECE_MAX) pieces.splice(index + 1, 0, piece.splice(PIECE_MAX >> 1));
    },
    remove(item) {
      const index = pieceOf(item);
      const piece = pieces[index];
      const place = piece ? placeIn(piece, item) : 0;
      if (piece?.[place] !== item) return false;
      size -= 1;
      if (place === 0) piece.shift();
      else piece.splice(place, 1);
      if (piece.length === 0) pieces.splice(index, 1);
      return true;
    },
    at(index) {
      let left = index;
      for (const piece of pieces) {
        if (left < piece.length) return piece[left];
        left -= piece.length;
      }
      return undefined;
    },
    walk(visit) {
      for (const piece of pieces) for (const item of piece) if (!visit(item)) return;
    },
  };

  /** The first piece whose last item is not before this one. */
  function pieceOf(item: T): number {
    let low = 0;
    let high = pieces.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const last = pieces[middle]?.at(-1);
      if (last !== undefined && compare(last, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function placeIn(piece: readonly T[], item: T): number {
    let low = 0;
    let high = piece.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const there = piece[middle];
      if (there !== undefined && compare(there, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
