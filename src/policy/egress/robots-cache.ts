/**
 * What robots.txt of each host said. One worker is sent to ask; until it is back nobody else gets a lease, because the
 * answer says how fast the host may be asked. Rules that are old are used on while somebody asks again. A host that
 * cannot say is left alone for a while, longer each time.
 */
import type { RobotsAdvice, RobotsNews, Want } from '../../wire/egress.ts';
import type { RobotsRecord } from './records.ts';
import type { Robots } from './entities.ts';
import type { State } from './state.ts';

const ASKING_MS = 10_000;
const COMING_MS = 500;
const FAILED_MS = 60_000;
const FAILED_MAX_MS = 3_600_000;
const KEEP_MIN_MS = 60_000;
const KEEP_MAX_MS = 7 * 86_400_000;
const CRAWL_DELAY_MAX_MS = 60_000;
const TEXT_MAX = 512 * 1024;
const TEXTS_MAX = 64 * 1024 * 1024;
const ENTRY_COST = 256;

export type RobotsStanding =
  | RobotsAdvice
  /** The host could not say; to be asked again then. */
  | { readonly state: 'failed'; readonly until: number };

export function robotsFor(state: State, { host, robots: has }: Want, now: number): RobotsStanding {
  if (!state.limits.robots || has === 'ignored') return { state: 'ignored' };
  const robots = state.robots.get(host);
  if (!robots) return { state: 'needed' };
  const due = robots.until <= now && robots.askedUntil <= now;
  if (robots.text === undefined) {
    if (robots.failures > 0 && robots.until > now) return { state: 'failed', until: robots.until };
    return due ? { state: 'needed' } : { state: 'coming', retryInMs: COMING_MS };
  }
  if (due) return { state: 'needed' };
  if (has === robots.version) return { state: 'same' };
  const { version, text } = robots;
  return { state: 'known', version, text, untilInMs: Math.max(KEEP_MIN_MS, robots.until - now) };
}

export function areRulesKnown(state: State, host: string): boolean {
  return state.robots.get(host)?.text !== undefined;
}

/** Somebody was sent to ask the host. */
export function noteAsking(state: State, host: string, now: number): void {
  const robots = state.robots.get(host) ?? enter(state, emptyRobots(host));
  robots.askedUntil = now + ASKING_MS;
}

export function noteRobotsNews(state: State, news: RobotsNews, now: number): void {
  const robots = state.robots.get(news.host) ?? emptyRobots(news.host);
  state.robotsBytes -= state.robots.delete(news.host) ? costOf(robots) : 0;
  robots.askedUntil = 0;
  if (news.text === undefined) {
    robots.until = now + Math.min(FAILED_MAX_MS, FAILED_MS * 2 ** Math.min(robots.failures, 30));
    robots.failures += 1;
  } else {
    const text = news.text.slice(0, TEXT_MAX);
    if (text !== robots.text) robots.version = Math.max(now, robots.version + 1);
    robots.text = text;
    robots.crawlDelayMs = Math.min(CRAWL_DELAY_MAX_MS, Math.max(0, news.crawlDelayMs ?? 0));
    robots.until = now + Math.min(KEEP_MAX_MS, Math.max(KEEP_MIN_MS, news.keepMs));
    robots.failures = 0;
  }
  enter(state, robots);
  state.journal.robots.add(robots);
}

export function restoreRobots(state: State, record: RobotsRecord): void {
  const { host, version, text, crawlDelayMs, until, failures } = record;
  enter(state, { host, version, text, crawlDelayMs, until, failures, askedUntil: 0 });
}

function emptyRobots(host: string): Robots {
  return { host, version: 0, text: undefined, crawlDelayMs: 0, until: 0, failures: 0, askedUntil: 0 };
}

/** The one that came first goes when there are too many: it is asked for again. */
function enter(state: State, robots: Robots): Robots {
  state.robots.set(robots.host, robots);
  state.robotsBytes += costOf(robots);
  for (const oldest of state.robots.values()) {
    if (state.robotsBytes <= TEXTS_MAX || oldest === robots) break;
    state.robots.delete(oldest.host);
    state.robotsBytes -= costOf(oldest);
  }
  return robots;
}

function costOf({ text }: Robots): number {
  return ENTRY_COST + (text?.length ?? 0) * 2;
}
