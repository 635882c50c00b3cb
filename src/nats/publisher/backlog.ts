/** What waits to be sent, in the order of publishing; what comes back to be sent again finds its old place. */
import type { Entry } from './entry.ts';

export interface Backlog {
  push(entry: Entry): void;
  putBack(entry: Entry): void;
  /** Takes, from the front, those that `choose` wants, until it says stop. */
  take(choose: (entry: Entry) => 'take' | 'skip' | 'stop'): Entry[];
  takeAll(): Entry[];
  length(): number;
}

export function createBacklog(): Backlog {
  let entries: Entry[] = [];
  let sorted = true;

  return {
    push: (entry) => void entries.push(entry),
    putBack(entry) {
      entries.push(entry);
      sorted = false;
    },
    take(choose) {
      tidy();
      const taken: Entry[] = [];
      const skipped: Entry[] = [];
      let seen = 0;
      for (const entry of entries) {
        const choice = entry.done ? undefined : choose(entry);
        if (choice === 'stop') break;
        seen += 1;
        if (choice === 'take') taken.push(entry);
        else if (choice === 'skip') skipped.push(entry);
      }
      const rest = entries.slice(seen);
      entries = skipped.length === 0 ? rest : skipped.concat(rest);
      return taken;
    },
    takeAll() {
      tidy();
      const all = entries.filter((entry) => !entry.done);
      entries = [];
      return all;
    },
    length: () => entries.length,
  };

  function tidy(): void {
    if (sorted) return;
    entries.sort((a, b) => a.order - b.order);
    sorted = true;
  }
}
