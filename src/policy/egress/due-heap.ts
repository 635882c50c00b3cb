/** Things that wait for a time, the earliest first. A thing knows its place, so that it can be taken out or moved. */
export interface Due {
  dueAt: number; // epoch ms
  /** Its place; -1: not in a heap. Kept by the heap. */
  heapAt: number;
}

export interface DueHeap<T extends Due> {
  readonly size: () => number;
  readonly first: () => T | undefined;
  /** Puts it in, or moves it to its new time. */
  readonly set: (item: T, dueAt: number) => void;
  readonly remove: (item: T) => void;
  /** Takes out the first one if its time has come. */
  readonly takeDue: (now: number) => T | undefined;
  /** The least of `valueOf`, which is never less than an item's time; Infinity: none. */
  readonly least: (valueOf: (item: T) => number) => number;
}

export function createDueHeap<T extends Due>(): DueHeap<T> {
  const items: T[] = [];
  return {
    size: () => items.length,
    first: () => items[0],
    set(item, dueAt) {
      item.dueAt = dueAt;
      if (item.heapAt < 0) {
        item.heapAt = items.length;
        items.push(item);
      }
      settle(item);
    },
    remove,
    takeDue(now) {
      const first = items[0];
      if (!first || first.dueAt > now) return undefined;
      remove(first);
      return first;
    },
    least(valueOf) {
      let best = Infinity;
      const open = [0];
      for (let index = open.pop(); index !== undefined; index = open.pop()) {
        const item = items[index];
        // What is below it is due later still.
        if (!item || item.dueAt >= best) continue;
        best = Math.min(best, valueOf(item));
        open.push(2 * index + 2, 2 * index + 1);
      }
      return best;
    },
  };

  function remove(item: T): void {
    const index = item.heapAt;
    if (index < 0) return;
    item.heapAt = -1;
    const last = items.pop();
    if (!last || last === item) return;
    items[index] = last;
    last.heapAt = index;
    settle(last);
  }

  function settle(item: T): void {
    let index = item.heapAt;
    for (;;) {
      const above = items[(index - 1) >> 1];
      if (index === 0 || !above || above.dueAt <= item.dueAt) break;
      place(above, index);
      index = (index - 1) >> 1;
    }
    for (;;) {
      const left = items[2 * index + 1];
      const right = items[2 * index + 2];
      const below = right && left && right.dueAt < left.dueAt ? right : left;
      if (!below || below === item || below.dueAt >= item.dueAt) break;
      const next = below.heapAt;
      place(below, index);
      index = next;
    }
    place(item, index);
  }

  function place(item: T, index: number): void {
    items[index] = item;
    item.heapAt = index;
  }
}
