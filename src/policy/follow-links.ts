/** Which links of a page are followed. Pure: the caller says what was followed so far, and enqueues what this names. */
import { getPublicSuffix } from 'tough-cookie';
import type { PageLimits } from '../domain/task.ts';
import { hostOf, normalizeUrl } from '../domain/url.ts';
import { compileUrlPattern } from './url-pattern.ts';

export interface FollowRules {
  /** One of them must match; none given: all do. */
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  /** How many links away from where the run started; 0 follows nothing. */
  readonly depth?: number | undefined;
  /** `host`: exactly; `site`: www.example.com and shop.example.com are one. */
  readonly within?: 'host' | 'site' | 'anywhere' | undefined;
  /** These two are kept to where links become tasks, since only there it is known which are new. */
  readonly pagesPerRun?: number | undefined;
  readonly pagesPerHost?: number | undefined;
  readonly dropTracking?: boolean | undefined;
}

export interface LinkSource {
  /** Of the page that has the links. */
  readonly url: string;
  /** Of that page: 0 where the run started. */
  readonly depth: number;
  /** Whole addresses, as the page has them. */
  readonly links: readonly string[];
  /** More than that are not looked at; `LINKS_MAX` if not said. */
  readonly linksMax?: number | undefined;
}

export type NotFollowed = 'invalid' | 'repeated' | 'excluded' | 'outside' | 'depth';

export interface FollowLink {
  /** As the page wrote it, but without tracking parameters if they are to be dropped: the ledger would see two pages. */
  readonly url: string;
  /** As the page wrote it, where that is something else. */
  readonly raw?: string;
}

export interface FollowDecision {
  /** In the order of the page. */
  readonly follow: readonly FollowLink[];
  readonly refused: Readonly<Partial<Record<NotFollowed, number>>>;
}

export type DecideFollow = (source: LinkSource) => FollowDecision;

/** Of one page; a page with more links is a trap. */
export const LINKS_MAX = 10_000;

export function createFollowPolicy(rules: FollowRules): DecideFollow {
  const include = rules.include?.map(compileUrlPattern);
  const exclude = (rules.exclude ?? []).map(compileUrlPattern);
  const within = rules.within ?? 'site';
  const dropTracking = rules.dropTracking === true;

  return (source) => {
    const refused: Partial<Record<NotFollowed, number>> = {};
    const follow: FollowLink[] = [];
    const seen = new Set<string>([spelling(source.url) ?? source.url]);
    const from = siteOf(source.url, within);
    for (const link of source.links.slice(0, source.linksMax ?? LINKS_MAX)) {
      const reason = judge(link);
      if (reason === undefined) follow.push(clean(link));
      else refused[reason] = (refused[reason] ?? 0) + 1;
    }
    return { follow, refused };

    function judge(link: string): NotFollowed | undefined {
      const url = spelling(link);
      if (url === undefined) return 'invalid';
      if (seen.has(url)) return 'repeated';
      seen.add(url);
      if (within !== 'anywhere' && siteOf(url, within) !== from) return 'outside';
      if (include && !include.some((matches) => matches(url))) return 'excluded';
      if (exclude.some((matches) => matches(url))) return 'excluded';
      if (rules.depth !== undefined && source.depth >= rules.depth) return 'depth';
      return undefined;
    }
  };

  function clean(link: string): FollowLink {
    const without = dropTracking ? normalizeUrl(link, { dropTracking }) : undefined;
    return without === undefined || without === normalizeUrl(link)
      ? { url: link }
      : { url: without, raw: link };
  }

  function spelling(url: string): string | undefined {
    try {
      return normalizeUrl(url, { dropTracking });
    } catch {
      return undefined;
    }
  }
}

/** What the rules say about how many pages are led to; undefined: nothing. */
export function pageLimitsOf({ pagesPerRun, pagesPerHost }: FollowRules): PageLimits | undefined {
  if (pagesPerRun === undefined && pagesPerHost === undefined) return undefined;
  return {
    ...(pagesPerRun !== undefined && { pagesPerRun }),
    ...(pagesPerHost !== undefined && { pagesPerHost }),
  };
}

function siteOf(url: string, within: 'host' | 'site' | 'anywhere'): string {
  const host = hostOf(url);
  return within === 'site' ? registrableDomain(host) : host;
}

/** `shop.example.co.uk` → `example.co.uk`; an address or a name without a dot is a site of its own. */
export function registrableDomain(host: string): string {
  const name = host.replace(/:\d+$/, '');
  if (name.startsWith('[') || /^[\d.]+$/.test(name) || !name.includes('.')) return host;
  return getPublicSuffix(name, { allowSpecialUseDomain: true, ignoreError: true }) ?? name;
}
