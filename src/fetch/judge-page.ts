/** What an answer means, after the scraper has had its say. */
import type { UseOutcome } from '../domain/egress.ts';
import type { FailureCode } from '../domain/failure.ts';
import type { CompiledRule } from '../policy/block-rules.ts';
import { classifyAnswer } from '../policy/classify-answer.ts';
import type { FetchOptions, Page } from '../scrapers/page.ts';
import type { Scraper } from '../scrapers/scraper.ts';

export interface PageVerdict {
  readonly outcome: UseOutcome;
  /** The scraper did not recognise the page: a block in disguise. */
  readonly soft: boolean;
  /** Absent: the handler gets the page. */
  readonly code?: FailureCode | undefined;
  readonly reason: string;
  readonly retryAfterMs?: number | undefined;
}

const CODE_OF: Readonly<Partial<Record<UseOutcome, FailureCode>>> = {
  throttled: 'THROTTLED',
  blocked: 'BLOCKED',
  target: 'TARGET',
  proxy: 'PROXY',
  network: 'NETWORK',
  timeout: 'TIMEOUT',
};

export interface JudgeFacts {
  readonly scraper: Pick<Scraper, 'classify' | 'validate'>;
  readonly rules: readonly CompiledRule[];
  readonly accept: FetchOptions['accept'];
  readonly now: number; // epoch ms
}

export function judgePage(page: Page, { scraper, rules, accept, now }: JudgeFacts): PageVerdict {
  const verdict = { ...classifyAnswer(page, rules, now), soft: false };
  const own = scraper.classify?.(page);
  if (own !== undefined)
    return { ...verdict, outcome: own, code: CODE_OF[own], reason: `${verdict.reason}, which is ${own}` };
  if (accept === 'any' || accept?.includes(page.status) === true) return { ...verdict, code: undefined };
  if (verdict.code !== undefined) return verdict;
  if (accept !== undefined || isRedirected(page))
    return { ...verdict, code: 'REJECTED', reason: `${verdict.reason}, which was not asked for` };
  const valid = scraper.validate?.(page) ?? true;
  if (valid === true) return verdict;
  const why = valid === false ? 'a page that is not the one that was asked for' : valid;
  return { outcome: 'blocked', soft: true, code: 'BLOCKED', reason: `${verdict.reason}: ${why}` };
}

/** A redirect that was not followed; 304 is an answer. */
function isRedirected({ status }: Page): boolean {
  return status >= 300 && status < 400 && status !== 304;
}
