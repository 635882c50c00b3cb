/** Which names have been on a list for long: it is looked at now and then, and who is missing once begins anew. */
export interface Lasting {
  /** Those of the list that have been on it for as long. */
  since(names: readonly string[], forMs: number): string[];
}

export function createLasting(): Lasting {
  const first = new Map<string, number>(); // monotonic ms
  return {
    since(names, forMs) {
      const now = performance.now();
      for (const name of [...first.keys()]) if (!names.includes(name)) first.delete(name);
      for (const name of names) if (!first.has(name)) first.set(name, now);
      return names.filter((name) => now - (first.get(name) ?? now) >= forMs);
    },
  };
}
