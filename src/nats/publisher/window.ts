/**
 * The window: how much may be under way, by count and by bytes. What does not fit waits in line, in order.
 * `room()` lets a producer wait before it makes the next message, so that the line stays empty.
 */
export interface WindowLimits {
  readonly messages: number;
  readonly bytes: number;
}

/** Many messages that count together: who they are is not for the window to know. */
export type Load = WindowLimits;

export interface Window<T> {
  /** True: go ahead. False: the item waits in line, and is handed to `admit` when there is room. */
  enter(item: T): boolean;
  /** For what is under way already, whatever the limits. */
  force(item: T): void;
  leave(item: T): void;
  /** Takes the whole load in, or nothing of it when it does not fit or somebody waits in line. */
  hold(load: Load): boolean;
  /** Of what was taken in, so much is no longer under way. */
  release(load: Load): void;
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
/** The least that somebody may want to send. */
const ANY: Load = { messages: 1, bytes: 0 };

export function createWindow<T extends { readonly bytes: number }>(
  limits: WindowLimits,
  admit: (item: T) => void,
): Window<T> {
  const inside = new Set<T>(); // in the order of entering
  let held = 0; // messages that came as a load
  let bytes = 0;
  let line: T[] = [];
  let head = 0; // the first of the line
  let roomy = createSignal();
  let idle = createSignal();

  return {
    enter(item) {
      if (lineLength() > 0 || !fits(oneOf(item))) {
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
      makeUse();
    },
    hold(load) {
      if (lineLength() > 0 || !fits(load)) return false;
      held += load.messages;
      bytes += load.bytes;
      return true;
    },
    release(load) {
      held -= load.messages;
      bytes -= load.bytes;
      makeUse();
    },
    room() {
      return lineLength() === 0 && fits(ANY) ? undefined : wait(roomy);
    },
    async empty() {
      if (size() > 0 || lineLength() > 0) await wait(idle);
    },
    size,
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

  /** What is larger than the whole window passes alone: it must pass some time. */
  function fits(load: Load): boolean {
    if (size() === 0) return true;
    return size() + load.messages <= limits.messages && bytes + load.bytes <= limits.bytes;
  }

  function size(): number {
    return inside.size + held;
  }

  /** Of the room that has come up. */
  function makeUse(): void {
    if (lineLength() > 0) admitNext();
    if (roomy.awaited && lineLength() === 0 && fits(ANY)) roomy = ring(roomy);
    if (idle.awaited && size() === 0 && lineLength() === 0) idle = ring(idle);
  }

  function include(item: T): void {
    inside.add(item);
    bytes += item.bytes;
  }

  function lineLength(): number {
    return line.length - head;
  }

  function admitNext(): void {
    for (let item = line[head]; item !== undefined && fits(oneOf(item)); item = line[head]) {
      head += 1;
      include(item);
      admit(item);
    }
    if (head < line.length && head < LINE_SLACK) return;
    line = line.slice(head);
    head = 0;
  }
}

function oneOf({ bytes }: { readonly bytes: number }): Load {
  return { messages: 1, bytes };
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
