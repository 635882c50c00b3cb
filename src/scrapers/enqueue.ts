/**
 * What a handler wants done next. It is only noted here: the worker submits it when the handler has succeeded, and
 * before the task counts as done. Nothing is lost in between, and what is submitted twice is known by its id.
 */
import { Failure } from '../domain/failure.ts';
import type { FollowUp, PageBudget, PageLimits, TaskSpec } from '../domain/task.ts';
import { normalizeUrl } from '../domain/url.ts';
import type { DecideFollow, Link, NotFollowed } from '../policy/follow-links.ts';
import { requestOf } from '../wire/submission-task.ts';
import { readArguments, readRequest } from './read-enqueued.ts';
import type { StandardSchema } from './standard-schema.ts';

export interface EnqueueOptions {
  /** Whose task it is; the scraper itself if not said. */
  readonly scraper?: string;
  readonly input?: Readonly<Record<string, unknown>>;
  /** Tasks of one key are one task, whatever else they say. */
  readonly key?: string;
  /** That of the task itself if not said. */
  readonly priority?: number;
}

export interface EnqueueRequest extends EnqueueOptions {
  readonly url?: string | URL;
  /** Only so many pages of the run, and of a host in it, are led to by what this scraper enqueues with a budget. */
  readonly budget?: PageLimits;
  /** A further page of the list that the task is a page of: as deep as the task. See to it that there is a last one. */
  readonly continues?: boolean;
}

export type Enqueued = string | URL | EnqueueRequest;

export interface EnqueueResult {
  readonly enqueued: number;
  /** What was not, and why: no address of a page, beyond the rules of `crawl`. */
  readonly refused: Readonly<Partial<Record<NotFollowed, number>>>;
}

export interface Enqueue {
  /** An address, a request, or many. */
  (what: Enqueued | readonly Enqueued[], options?: EnqueueOptions): EnqueueResult;
  /** One item, or each of many, to another stage: `enqueue('process', item)`. */
  (scraper: string, input: object): EnqueueResult;
  /** The same, with the types of that scraper. */
  <Given>(
    scraper: { readonly name: string; readonly input?: StandardSchema<Given, unknown> },
    input: Given | readonly Given[],
  ): EnqueueResult;
}

/** What all of these are underneath. */
export type EnqueueAny = (first: unknown, second?: unknown) => EnqueueResult;

export interface EnqueueParts {
  readonly task: TaskSpec;
  /** The rules of the scraper's own crawl. */
  readonly follow: DecideFollow | undefined;
  readonly budget: PageBudget | undefined;
  /** Where it is noted. */
  readonly noted: FollowUp[];
}

/** Of one attempt; one that leads to more should lead to tasks that lead to them. */
const NOTED_MAX = 100_000;
/** For a task without a page: its rules say nothing about the site. */
const NOWHERE = 'http://nowhere.invalid/';

export function createEnqueue({ task, follow, budget, noted }: EnqueueParts): EnqueueAny {
  return (first, second) => {
    const requests = readArguments(first, second);
    const refused: Partial<Record<NotFollowed, number>> = {};
    const before = noted.length;
    const own: FollowUp[] = [];
    for (const request of requests) {
      const next = readRequest(request, task);
      if (next.url !== undefined && !isAddress(next.url)) refuse('invalid');
      else if (follow && next.url !== undefined && next.scraper === task.scraper) own.push(next);
      else note(next);
    }
    if (follow && own.length > 0) noteFollowed(follow, own);
    return { enqueued: noted.length - before, refused };

    function refuse(reason: NotFollowed, many = 1): void {
      refused[reason] = (refused[reason] ?? 0) + many;
    }

    function noteFollowed(decide: DecideFollow, links: readonly FollowUp[]): void {
      const decision = decide({
        page: linkOf(task),
        depth: task.depth ?? 0,
        links: links.map((next) => ({ ...linkOf(next), continues: next.continues === true, next })),
      });
      for (const { link, url, raw } of decision.follow) {
        const { next } = link;
        note({
          ...next,
          url,
          ...(raw !== undefined && { input: { rawUrl: raw, ...next.input } }),
          ...(budget && { budget }),
        });
      }
      for (const [reason, many] of Object.entries(decision.refused)) refuse(reason as NotFollowed, many);
    }
  };

  function note(next: FollowUp): void {
    if (noted.length >= NOTED_MAX)
      throw new Failure('INVALID', `one task enqueued more than ${NOTED_MAX} others`, {
        hint: 'Enqueue tasks that enqueue the rest, page by page.',
      });
    noted.push(next);
  }
}

/** What tells a task apart from others, as it does where it is submitted. */
function linkOf({ url, key, input }: Pick<FollowUp, 'url' | 'key' | 'input'>): Link {
  if (key !== undefined) return { url: url ?? NOWHERE, key };
  return url === undefined ? { url: NOWHERE } : { url, ...(input && requestOf(input)) };
}

function isAddress(url: string): boolean {
  try {
    normalizeUrl(url);
    return true;
  } catch {
    return false;
  }
}
