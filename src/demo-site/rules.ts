/** Rules that a test lays on parts of the site while it runs: limits per address, answers, delays. */
import { createRollingLimit, type RollingLimit } from './rolling-limit.ts';

export interface Rule {
  /** The first rule whose prefix fits decides. */
  readonly prefix: string;
  /** More than this from one address is answered with `status` and `Retry-After`. */
  readonly perIp?: { readonly max: number; readonly windowMs: number };
  /** With `perIp`: the answer to what is too much (429). Alone: the answer to everything. */
  readonly status?: number;
  /** Value of `Retry-After`; with `perIp`, by default the time until the address has room again. */
  readonly retryAfterS?: number;
  /** Every answer waits for so long first. */
  readonly delayMs?: number;
}

export interface Ruling {
  readonly delayMs: number;
  /** Undefined: the page itself answers. */
  readonly refusal: { readonly status: number; readonly retryAfterS: number | undefined } | undefined;
}

export interface RuleBook {
  set(rules: readonly Rule[]): void;
  judge(about: { readonly path: string; readonly ip: string; readonly nowMs: number }): Ruling | undefined;
  /** Forgets who used up what; the rules stay. */
  clear(): void;
}

export function createRuleBook(): RuleBook {
  let laws: { readonly rule: Rule; readonly limit: RollingLimit | undefined }[] = [];
  return {
    set(rules) {
      laws = rules.map((rule) => ({ rule, limit: rule.perIp && createRollingLimit(rule.perIp) }));
    },
    judge({ path, ip, nowMs }) {
      const law = laws.find(({ rule }) => path.startsWith(rule.prefix));
      if (!law) return undefined;
      const { rule, limit } = law;
      const delayMs = rule.delayMs ?? 0;
      if (!limit) {
        const refusal =
          rule.status === undefined ? undefined : { status: rule.status, retryAfterS: rule.retryAfterS };
        return { delayMs, refusal };
      }
      const waitMs = limit.take(ip, nowMs);
      if (waitMs === 0) return { delayMs, refusal: undefined };
      const retryAfterS = rule.retryAfterS ?? Math.ceil(waitMs / 1000);
      return { delayMs, refusal: { status: rule.status ?? 429, retryAfterS } };
    },
    clear() {
      for (const { limit } of laws) limit?.clear();
    },
  };
}
