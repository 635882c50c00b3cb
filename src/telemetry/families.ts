/** Families of metrics from plain numbers. */
import type { DurationSums, Named } from '../domain/tally.ts';
import type { DurationFamily, Family } from './exposition.ts';

export function counter(name: string, help: string, value: number): Family {
  return { name, help, type: 'counter', lines: [{ value }] };
}

export function gauge(name: string, help: string, value: number): Family {
  return { name, help, type: 'gauge', lines: [{ value }] };
}

interface NamedFacts {
  readonly help: string;
  readonly label: string;
  readonly counts: Named;
  /** Told also while there was none: a line that begins at 1 hides its first one from every rate. */
  readonly known?: readonly string[];
}

export function named(name: string, facts: NamedFacts): Family {
  return { ...byLabel(name, facts), type: 'counter' };
}

export function byLabel(name: string, { help, label, counts, known = [] }: NamedFacts): Family {
  const keys = new Set([...known, ...Object.keys(counts)]);
  const lines = [...keys].map((key) => ({ labels: { [label]: key }, value: counts[key] ?? 0 }));
  return { name, help, type: 'gauge', lines };
}

export function durations(name: string, help: string, sums: DurationSums): DurationFamily {
  return { name, help, type: 'histogram', sums };
}
