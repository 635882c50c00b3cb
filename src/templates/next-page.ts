/** Where the next page of a list is. */
import type { FieldSpec } from '../extract/field-spec.ts';
import type { NextRule } from './template.ts';

/** What must be found on the page to know it. */
export function nextField(rule: NextRule): FieldSpec | undefined {
  if (rule.kind === 'link') return { css: rule.css, attr: rule.attr, type: 'url' };
  if (rule.kind === 'cursor') return { from: 'json', json: rule.json, type: 'text' };
  return undefined;
}

export interface NextFacts {
  readonly url: string;
  /** Of this page, from 1. */
  readonly page: number;
  /** Items that this page had, good or bad. */
  readonly items: number;
  /** Of `nextField`. */
  readonly found: unknown;
}

/** Undefined: this was the last one. */
export function pickNext(rule: NextRule, { url, page, items, found }: NextFacts): string | undefined {
  if (page >= rule.max) return undefined;
  if (rule.kind === 'link') return typeof found === 'string' && found !== url ? found : undefined;
  if (rule.kind === 'cursor') {
    return typeof found === 'string' && found !== '' ? withParam(url, rule.param, found) : undefined;
  }
  if (items === 0) return undefined;
  const given = Number(new URL(url).searchParams.get(rule.param) ?? NaN);
  const first = rule.kind === 'page' ? rule.first : 0;
  const now = Number.isSafeInteger(given) && given >= 0 ? given : first;
  return withParam(url, rule.param, String(now + (rule.kind === 'page' ? 1 : rule.step)));
}

function withParam(url: string, name: string, value: string): string {
  const next = new URL(url);
  next.searchParams.set(name, value);
  return next.href;
}
