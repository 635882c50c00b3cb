/** A template as a function from a page to its items and to where it leads. Pure. */
import { compileExtractor, type Extraction, type Extractor } from '../extract/extractor.ts';
import type { FieldSpec, SourcePage } from '../extract/field-spec.ts';
import type { Extracted } from '../extract/read-found.ts';
import type { Sitemap } from '../extract/sitemap.ts';
import type { PageLimits } from '../domain/task.ts';
import type { CleanUrl } from '../domain/url.ts';
import {
  createFollowPolicy,
  pageLimitsOf,
  type DecideFollow,
  type NotFollowed,
} from '../policy/follow-links.ts';
import { compileUrlPattern, type UrlPattern } from '../policy/url-pattern.ts';
import { nextField, pickNext } from './next-page.ts';
import type { FollowRule, PageRule, Template } from './template.ts';

export interface TemplatePage extends SourcePage {
  /** The page read as a site map. */
  readonly sitemap: () => Sitemap;
  /** Links away from where the run started. */
  readonly depth?: number | undefined;
  /** Its place in a list that goes over several pages, from 1. */
  readonly page?: number | undefined;
}

export interface FollowedLink extends CleanUrl {
  readonly scraper: string | undefined;
  readonly priority: number | undefined;
  readonly budget: PageLimits | undefined;
}

export interface PageResult {
  /** Which kind of page it was taken for; -1: the template has none for it. */
  readonly rule: number;
  readonly kind: string | undefined;
  /** All that were found, with what is wrong with each. */
  readonly items: readonly Extracted[];
  readonly next: string | undefined;
  readonly links: readonly FollowedLink[];
  readonly refused: Readonly<Partial<Record<NotFollowed, number>>>;
}

export interface CompiledTemplate {
  extract(page: TemplatePage): PageResult;
}

interface CompiledRule {
  readonly rule: PageRule;
  readonly match: readonly UrlPattern[] | undefined;
  readonly extractor: Extractor;
  readonly follow: readonly CompiledFollow[];
}

interface CompiledFollow {
  readonly rule: FollowRule;
  readonly decide: DecideFollow;
  /** Of further site maps: they lead to pages, and only pages have to be wanted. */
  readonly decideMaps: DecideFollow;
}

const NEXT = 'next';
const NOTHING = { items: [], next: undefined, links: [], refused: {} } as const;

export function compileTemplate({ pages }: Template): CompiledTemplate {
  const rules = pages.map(compileRule);
  return {
    extract(page) {
      const index = rules.findIndex(({ match }) => !match || match.some((matches) => matches(page.url)));
      const compiled = rules[index];
      if (!compiled) return { rule: -1, kind: undefined, ...NOTHING };
      const { rule, extractor } = compiled;
      const extraction = extractor.extract(page);
      const items = rule.fields ? [extraction.page] : extraction.items;
      const next = rule.next && {
        url: page.url,
        page: page.page ?? 1,
        items: items.length,
        found: extraction.links.value[NEXT],
      };
      return {
        rule: index,
        kind: rule.kind,
        items,
        next: rule.next && next && pickNext(rule.next, next),
        ...decideLinks(compiled, page, extraction),
      };
    },
  };
}

function compileRule(rule: PageRule): CompiledRule {
  const next = rule.next && nextField(rule.next);
  const links: Record<string, FieldSpec> = next ? { [NEXT]: next } : {};
  for (const [index, { links: css = 'a[href]', sitemap }] of rule.follow.entries())
    if (sitemap !== true) links[`follow${index}`] = { css, attr: 'href', all: true };
  return {
    rule,
    match: rule.match?.map(compileUrlPattern),
    extractor: compileExtractor({ fields: rule.fields ?? {}, items: rule.items, links }),
    follow: rule.follow.map((each) => ({
      rule: each,
      decide: createFollowPolicy(each),
      decideMaps: createFollowPolicy({ ...each, include: undefined }),
    })),
  };
}

function decideLinks(
  { follow }: CompiledRule,
  page: TemplatePage,
  extraction: Extraction,
): Pick<PageResult, 'links' | 'refused'> {
  const links: FollowedLink[] = [];
  const refused: Partial<Record<NotFollowed, number>> = {};
  const map = follow.some(({ rule }) => rule.sitemap) ? page.sitemap() : undefined;
  if (map && map.leftOut > 0) refused['left-out'] = map.leftOut;
  for (const [index, { rule, decide, decideMaps }] of follow.entries()) {
    if (rule.sitemap === true && map) {
      add(decideMaps, urlsOf(map.maps), { ...rule, scraper: undefined });
      add(decide, urlsOf(map.pages), rule);
    } else add(decide, resolveAll(extraction.links.value[`follow${index}`], extraction.base), rule);
  }
  return { links, refused };

  function add(
    decide: DecideFollow,
    found: readonly string[],
    { scraper, priority, ...rule }: FollowRule,
  ): void {
    const budget = pageLimitsOf(rule);
    const decision = decide({
      page: { url: page.url },
      depth: page.depth ?? 0,
      links: found.map((url) => ({ url })),
    });
    for (const { url, raw } of decision.follow)
      links.push({ url, ...(raw !== undefined && { raw }), scraper, priority, budget });
    for (const [reason, many] of Object.entries(decision.refused))
      refused[reason as NotFollowed] = (refused[reason as NotFollowed] ?? 0) + many;
  }
}

function urlsOf(entries: Sitemap['pages']): string[] {
  return entries.map(({ url }) => url);
}

/** `mailto:` and the like are no links to follow, and no problem either. */
function resolveAll(hrefs: unknown, base: string): string[] {
  if (!Array.isArray(hrefs)) return [];
  return hrefs.flatMap((href) => {
    try {
      return typeof href === 'string' ? [new URL(href, base).href] : [];
    } catch {
      return [];
    }
  });
}
