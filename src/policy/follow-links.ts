/** Which links of a page are followed. Pure: the caller says what was followed so far, and enqueues what this names. */
import { getPublicSuffix } from 'tough-cookie';
import type { PageLimits } from '../domain/task.ts';
import { identityOf, type TaskIdentity } from '../domain/task-id.ts';
import { hostOf, normalizeUrl, withoutTracking, type CleanUrl } from '../domain/url.ts';
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

/** A whole address, as the page has it, and what else tells its task apart from others of that address. */
export interface Link extends Pick<TaskIdentity, 'key' | 'method' | 'body'> {
  readonly url: string;
  /** As deep as the page itself. */
  readonly continues?: boolean;
}

export interface LinkSource<Given extends Link> {
  /** The page that has the links: the task that they are found by. */
  readonly page: Link;
  /** Of that page: 0 where the run started. */
  readonly depth: number;
  readonly links: readonly Given[];
}

/** `left-out`: beyond what one site map may hold. */
export type NotFollowed = 'invalid' | 'repeated' | 'excluded' | 'outside' | 'depth' | 'left-out';

/** Without tracking parameters if they are to be dropped: the ledger would see two pages. */
export interface FollowLink<Given extends Link> extends CleanUrl {
  /** As it was given. */
  readonly link: Given;
}

export interface FollowDecision<Given extends Link> {
  /** In the order of the page. */
  readonly follow: readonly FollowLink<Given>[];
  readonly refused: Readonly<Partial<Record<NotFollowed, number>>>;
}

export type DecideFollow = <Given extends Link>(source: LinkSource<Given>) => FollowDecision<Given>;

export function createFollowPolicy(rules: FollowRules): DecideFollow {
  const include = rules.include?.map(compileUrlPattern);
  const exclude = (rules.exclude ?? []).map(compileUrlPattern);
  const within = rules.within ?? 'site';
  const dropTracking = rules.dropTracking === true;

  return <Given extends Link>(source: LinkSource<Given>) => {
    const refused: Partial<Record<NotFollowed, number>> = {};
    const follow: FollowLink<Given>[] = [];
    const own = read(source.page);
    const seen = new Set(own && [own.task]);
    const from = siteOf(source.page.url, within);
    for (const link of source.links) {
      const reason = judge(link);
      if (reason === undefined) follow.push({ link, ...clean(link.url) });
      else refused[reason] = (refused[reason] ?? 0) + 1;
    }
    return { follow, refused };

    function judge(link: Link): NotFollowed | undefined {
      const known = read(link);
      if (known === undefined) return 'invalid';
      const { url, task } = known;
      if (seen.has(task)) return 'repeated';
      seen.add(task);
      if (within !== 'anywhere' && siteOf(url, within) !== from) return 'outside';
      if (include && !include.some((matches) => matches(url))) return 'excluded';
      if (exclude.some((matches) => matches(url))) return 'excluded';
      const depth = link.continues === true ? source.depth : source.depth + 1;
      if (rules.depth !== undefined && depth > rules.depth) return 'depth';
      return undefined;
    }
  };

  function clean(url: string): CleanUrl {
    return dropTracking ? withoutTracking(url) : { url };
  }

  /** The one spelling of its address, and what makes it a task of its own. */
  function read(link: Link): { readonly url: string; readonly task: string } | undefined {
    try {
      return {
        url: normalizeUrl(link.url, { dropTracking }),
        task: identityOf(link, { dropTracking }),
      };
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
