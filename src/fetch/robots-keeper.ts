/**
 * What robots.txt allows, per host. The manager knows the rules of the cluster; where it does not, it appoints one worker
 * to fetch them. Within a worker one request at a time finds out, and the others wait for what it finds.
 */
import { Failure } from '../domain/failure.ts';
import type { Clock } from '../runtime/clock.ts';
import type { RobotsAdvice, RobotsNews } from '../wire/egress.ts';
import { hostKey } from '../wire/host-key.ts';
import { parseRules } from './robots-rules.ts';

export interface RobotsSource {
  /** What the manager says now. */
  ask(): Promise<RobotsAdvice | undefined>;
  /** The rules as the host has them; undefined: it could not say. */
  read(url: URL): Promise<string | undefined>;
  tell(news: RobotsNews): Promise<void>;
  readonly signal: AbortSignal;
}

export interface RobotsKeeper {
  version(host: string): number | undefined;
  /** What an answer of the manager brought along. */
  hear(host: string, advice: RobotsAdvice): void;
  /** Throws `REJECTED` for what is not allowed, and `THROTTLED` while nobody can say; a promise where it has to find out. */
  check(url: URL, source: () => RobotsSource): Promise<void> | undefined;
}

interface Rules {
  readonly allows: (url: string) => boolean;
  readonly version: number | undefined;
  until: number; // monotonic ms
  readonly keepMs: number;
}

const KEEP_MS = 24 * 3_600_000;
const IGNORED_MS = 600_000;
const UNKNOWN_MS = 60_000;
const UNKNOWN_MAX_MS = 3_600_000;
const HOSTS_MAX = 5_000;
const TRIES = 4;
/** Another worker asks the host: for so long it is worth waiting for. */
const COMING_MAX_MS = 2_000;
const COMING_MIN_MS = 50;

export function createRobotsKeeper(parts: {
  readonly clock: Clock;
  readonly userAgent: string;
}): RobotsKeeper {
  const { clock, userAgent } = parts;
  const known = new Map<string, Rules>();
  const learning = new Map<string, Promise<void>>();
  const silences = new Map<string, number>();
  const appointed = new Set<string>();

  return {
    version: (host) => known.get(host)?.version,
    hear(host, advice) {
      if (advice.state === 'known' && advice.version !== known.get(host)?.version) takeIn(host, advice);
      if (advice.state === 'needed') appoint(host);
    },
    check(url, source) {
      const rules = rulesInHand(hostKey(url));
      if (!rules) return rulesOf(url, source()).then((found) => obey(found, url));
      obey(rules, url);
      return undefined;
    },
  };

  function rulesInHand(host: string): Rules | undefined {
    const rules = known.get(host);
    return rules && rules.until > clock.now() ? rules : undefined;
  }

  function obey(rules: Rules, url: URL): void {
    if (rules.allows(url.href)) return;
    throw new Failure('REJECTED', `robots.txt of ${url.host} does not allow ${url.pathname}`, {
      hint: 'Leave it, or set `robots: false` in the scraper if the site has agreed to it.',
    });
  }

  async function rulesOf(url: URL, source: RobotsSource): Promise<Rules> {
    const host = hostKey(url);
    for (let tries = 0; tries < TRIES; tries += 1) {
      const rules = rulesInHand(host);
      if (rules) return rules;
      source.signal.throwIfAborted();
      const other = learning.get(host);
      if (!other) {
        const mine = learn(url, host, source).finally(() => learning.delete(host));
        learning.set(host, mine);
        await mine;
      } else await other.catch(rethrowWait);
    }
    throw waitFor(url.host, COMING_MAX_MS);
  }

  async function learn(url: URL, host: string, source: RobotsSource): Promise<void> {
    if (appointed.delete(host)) return readFrom(url, host, source);
    const advice = await askOrStale(host, source);
    switch (advice?.state) {
      case 'known': {
        takeIn(host, advice);
        return;
      }
      case 'same': {
        extend(host);
        return;
      }
      case 'ignored': {
        put(host, { allows: () => true, version: undefined, keepMs: IGNORED_MS });
        return;
      }
      case 'needed':
        return readFrom(url, host, source);
      case 'coming':
      case undefined: {
        const retryInMs = advice?.retryInMs ?? COMING_MIN_MS;
        if (retryInMs > COMING_MAX_MS) throw waitFor(url.host, retryInMs);
        await new Promise<void>((resolve) => clock.after(Math.max(COMING_MIN_MS, retryInMs), resolve));
      }
    }
  }

  /** Old rules are better than none while the manager cannot be asked. */
  async function askOrStale(host: string, source: RobotsSource): Promise<RobotsAdvice | undefined> {
    try {
      return await source.ask();
    } catch (error) {
      if (known.has(host) && error instanceof Failure && error.code === 'NO_EGRESS') return { state: 'same' };
      throw error;
    }
  }

  /** The manager counts on this worker: the next one here that wants a page of the host reads its rules. */
  function appoint(host: string): void {
    if (appointed.size >= HOSTS_MAX) appointed.clear();
    appointed.add(host);
    known.delete(host);
  }

  async function readFrom(url: URL, host: string, source: RobotsSource): Promise<void> {
    const text = await source.read(new URL('/robots.txt', url)).catch((error: unknown) => {
      appoint(host);
      throw error;
    });
    if (text === undefined) {
      const times = silences.get(host) ?? 0;
      const keepMs = Math.min(UNKNOWN_MAX_MS, UNKNOWN_MS * 2 ** times);
      if (silences.size >= HOSTS_MAX) silences.clear();
      silences.set(host, times + 1);
      await source.tell({ host, keepMs });
      throw waitFor(url.host, keepMs);
    }
    silences.delete(host);
    const { allows, crawlDelayMs } = parseRules(text, userAgent);
    put(host, { allows, version: undefined, keepMs: KEEP_MS });
    await source.tell({ host, text, keepMs: KEEP_MS, ...(crawlDelayMs > 0 && { crawlDelayMs }) });
  }

  function takeIn(
    host: string,
    { text, version, untilInMs }: Extract<RobotsAdvice, { state: 'known' }>,
  ): void {
    put(host, { allows: parseRules(text, userAgent).allows, version, keepMs: untilInMs });
  }

  function extend(host: string): void {
    const rules = known.get(host);
    if (rules) rules.until = clock.now() + Math.min(rules.keepMs, IGNORED_MS);
  }

  function put(host: string, rules: Omit<Rules, 'until'>): void {
    known.delete(host);
    known.set(host, { ...rules, until: clock.now() + Math.max(1, rules.keepMs) });
    const [oldest] = known.keys();
    if (known.size > HOSTS_MAX && oldest !== undefined) known.delete(oldest);
  }

  function waitFor(host: string, ms: number): Failure {
    return new Failure('THROTTLED', `robots.txt of ${host} cannot be read just now`, {
      retryAtMs: Math.ceil(clock.epoch() + ms),
    });
  }
}

/** What kept one from finding out keeps the others too, if it is a matter of time; otherwise they try for themselves. */
function rethrowWait(error: unknown): void {
  if (error instanceof Failure && (error.code === 'THROTTLED' || error.code === 'NO_EGRESS')) throw error;
}
