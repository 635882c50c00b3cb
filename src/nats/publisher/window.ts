/**
 * The window: how much may be under way, by count and by bytes. What does not fit waits in line, in order.
 * `room()` lets a producer wait before it makes the next message, so that the line stays empty.
 */
export interface WindowLimits {
  readonly messages: number;
  readonly bytes: number;
}

export interface Window<T> {
  /** True: go ahead. False: the item waits in line, and is handed to `admit` when there is room. */
  enter(item: T): boolean;
  /** For what is under way already, whatever the limits. */
  force(item: T): void;
  leave(item: T): void;
  room(): Promise<void> | undefined;
  /** Resolves when nothing is under way and nobody waits. */
  empty(): Promise<void>;
  /** Under way, without the line. */
  size(): number;
  /** The oldest ones for which `test` holds. They stay in the window. */
  oldestWhile(test: (item: T) => boolean): T[];
  /** Lets everybody in, whatever the limits: the end is near. Returns all that are in the window. */
  dissolve(): T[];
}

/** How many places of the line may be empty before it is copied together. */
const LINE_SLACK = 4_096;

export function createWindow<T extends { readonly bytes: number }>(
  limits: WindowLimits,
  admit: (item: T) => void,
): Window<T> {
  const inside = new Set<T>(); // in the order of entering
  let bytes = 0;
  let line: T[] = [];
  let head = 0; // the first of the line
  let roomy = createSignal();
  let idle = createSignal();

  return {
    enter(item) {
      if (lineLength() > 0 || !fits(item.bytes)) {
        line.push(item);
        return false;
      }
      include(item);
      return true;
    },
    force: include,
    leave(item) {
      inside.delete(item);
      bytes -= item.bytes;
      if (lineLength() > 0) admitNext();
      if (roomy.awaited && lineLength() === 0 && fits(0)) roomy = ring(roomy);
      if (idle.awaited && inside.size === 0 && lineLength() === 0) idle = ring(idle);
    },
    room() {
      return lineLength() === 0 && fits(0) ? undefined : wait(roomy);
    },
    async empty() {
      if (inside.size > 0 || lineLength() > 0) await wait(idle);
    },
    size: () => inside.size,
    oldestWhile(test) {
      const items: T[] = [];
      for (const item of inside) {
        if (!test(item)) break;
        items.push(item);
      }
      return items;
    },
    dissolve() {
      line.slice(head).forEach(include);
      line = [];
      head = 0;
      return [...inside];
    },
  };

  /** An item larger than the whole window passes alone: it must pass some time. */
  function fits(size: number): boolean {
    return inside.size === 0 || (inside.size < limits.messages && bytes + size <= limits.bytes);
  }

  function include(item: T): void {
    inside.add(item);
    bytes += item.bytes;
  }

  function lineLength(): number {
    return line.length - head;
  }

  function admitNext(): void {
    for (let item = line[head]; item !== undefined && fits(item.bytes); item = line[head]) {
      head += 1;
      include(item);
      admit(item);
    }
    if (head < line.length && head < LINE_SLACK) return;
    line = line.slice(head);
    head = 0;
  }
}

interface Signal {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  awaited: boolean;
}

function createSignal(): Signal {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve, awaited: false };
}

function wait(signal: Signal): Promise<void> {
  signal.awaited = true;
  return signal.promise;
}

function ring(signal: Signal): Signal {
  signal.resolve();
  return createSignal();
}
