/** Limits of hosts by pattern: `example.com`, `*.example.com` for all hosts below it, `*` for every host. */
import type { HostLimits } from './egress.ts';

export interface HostRule {
  /** A host key, perhaps with `*.` before it, or `*`. */
  readonly pattern: string;
  readonly limits: Partial<HostLimits>;
}

/** The limits of a host: what several rules say is joined, and the closest one has the last word. */
export function limitsByRules(
  host: string,
  { defaults, rules }: { defaults: HostLimits; rules: readonly HostRule[] },
): HostLimits {
  const fitting = rules.filter(({ pattern }) => fits(pattern, host)).sort((a, b) => rank(a) - rank(b));
  return Object.assign({}, defaults, ...fitting.map(({ limits }) => limits)) as HostLimits;
}

function fits(pattern: string, host: string): boolean {
  if (pattern === '*' || pattern === host) return true;
  return pattern.startsWith('*.') && host.endsWith(pattern.slice(1));
}

/** The longer a pattern, the closer; one without a wildcard is the host itself. */
function rank({ pattern }: HostRule): number {
  return pattern.startsWith('*') ? pattern.length : Infinity;
}
