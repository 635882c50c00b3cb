/** The known name that a mistyped one most likely meant. */

/** `tls_ca`, `tlsCa` and `tls-ca` are one name to a person who does not remember which. */
function fold(name: string): string {
  return name.toLowerCase().replace(/[-_.]/g, '');
}

/** Levenshtein's distance, one row of the matrix at a time. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let index = 0; index < from.length; index += 1) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column += 1) {
      const replace = (row[column - 1] ?? 0) + (to[column - 1] === from[index] ? 0 : 1);
      next.push(Math.min(replace, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

export function pickNearest(name: string, known: readonly string[]): string | undefined {
  const wanted = fold(name);
  // The right key in the wrong section, or in none.
  const lastPart = fold(name.split('.').at(-1) ?? name);
  let best: string | undefined;
  // Beyond a third of its letters a guess is more confusing than none.
  let bestCost = Math.max(2, wanted.length / 3);
  for (const candidate of known) {
    const moved = candidate.includes('.') && fold(candidate.split('.').at(-1) ?? '') === lastPart;
    const cost = moved ? Math.min(0.5, distance(wanted, fold(candidate))) : distance(wanted, fold(candidate));
    if (cost < bestCost) {
      best = candidate;
      bestCost = cost;
    }
  }
  return best;
}
