/**
 * Where an actor counts what the whole cluster wants to know. It is on the path of every task and page, so an
 * observation only adds to numbers that are there; now and then what has come together is taken out and stored.
 */
import {
  ANSWER_CLASSES,
  DURATION_BOUNDS_S,
  type AnswerClass,
  type DurationSums,
  type HostSums,
  type Named,
  type TallySums,
} from '../domain/tally.ts';

export interface PageFacts {
  readonly ms: number;
  readonly bytes: number;
  readonly host: string;
  /** Absent: no answer came. */
  readonly status?: number | undefined;
  readonly blocked: boolean;
  /** A redirect and robots.txt are requests, but no pages. */
  readonly isPage: boolean;
}

export interface Tally {
  started(role: string): void;
  refused(tasks: number): void;
  /** From the start of an attempt to its end. */
  attempted(ms: number): void;
  /** From being ready to being started. */
  waited(ms: number): void;
  retried(code: string): void;
  deferred(reason: string): void;
  fetched(outcome: string, facts: PageFacts): void;
  /** What was counted since it was last asked; undefined: nothing. */
  take(): TallySums | undefined;
  /** Calls when something is counted where nothing was since the last taking out. One listener. */
  onCount(listener: () => void): void;
}

/** Hosts that are told apart until the next taking out. */
const HOSTS_MAX = 1_000;

type Counts = Record<string, number>;

interface Durations {
  readonly counts: number[];
  seconds: number;
}

interface Host {
  readonly requests: number[];
  blocks: number;
  seconds: number;
  score: number;
}

interface Fresh {
  readonly starts: Counts;
  refused: number;
  readonly retried: Counts;
  readonly deferred: Counts;
  readonly pages: Counts;
  bytes: number;
  readonly task: Durations;
  readonly wait: Durations;
  readonly page: Durations;
  readonly hosts: Map<string, Host>;
  readonly otherHosts: Host;
}

export function createTally(): Tally {
  let fresh = createFresh();
  let changed = false;
  let tell = (): void => undefined;

  return {
    started: (role) => count(fresh.starts, role),
    refused(tasks) {
      change();
      fresh.refused += tasks;
    },
    attempted: (ms) => observe(fresh.task, ms),
    waited: (ms) => observe(fresh.wait, ms),
    retried: (code) => count(fresh.retried, code),
    deferred: (reason) => count(fresh.deferred, reason),
    fetched(outcome, facts) {
      fresh.bytes += facts.bytes;
      note(hostOf(facts.host), facts);
      if (!facts.isPage) return;
      count(fresh.pages, outcome);
      observe(fresh.page, facts.ms);
    },
    take() {
      if (!changed) return undefined;
      const taken: TallySums = fresh;
      fresh = createFresh();
      changed = false;
      return taken;
    },
    onCount: (listener) => void (tell = listener),
  };

  function change(): void {
    if (changed) return;
    changed = true;
    tell();
  }

  function count(counts: Counts, name: string): void {
    change();
    counts[name] = (counts[name] ?? 0) + 1;
  }

  function observe(durations: Durations, ms: number): void {
    change();
    const seconds = Math.max(0, ms) / 1e3;
    let bucket = 0;
    while (bucket < DURATION_BOUNDS_S.length && seconds > (DURATION_BOUNDS_S[bucket] as number)) bucket += 1;
    durations.counts[bucket] = (durations.counts[bucket] ?? 0) + 1;
    durations.seconds += seconds;
  }

  function hostOf(name: string): Host {
    const known = fresh.hosts.get(name);
    if (known) return known;
    if (fresh.hosts.size >= HOSTS_MAX) return fresh.otherHosts;
    const host = createHost();
    fresh.hosts.set(name, host);
    return host;
  }

  function note(host: Host, { ms, status, blocked }: PageFacts): void {
    change();
    const place = placeOf(status);
    host.requests[place] = (host.requests[place] ?? 0) + 1;
    host.seconds += Math.max(0, ms) / 1e3;
    host.score += 1;
    if (blocked) host.blocks += 1;
  }
}

export function classOf(status: number | undefined): AnswerClass {
  return ANSWER_CLASSES[placeOf(status)] as AnswerClass;
}

/** 1xx never ends an answer; what is no status at all is no answer. */
function placeOf(status: number | undefined): number {
  if (status === undefined || status < 200 || status > 599) return ANSWER_CLASSES.indexOf('failed');
  return Math.floor(status / 100) - 2;
}

function createFresh(): Fresh {
  return {
    starts: emptyCounts(),
    refused: 0,
    retried: emptyCounts(),
    deferred: emptyCounts(),
    pages: emptyCounts(),
    bytes: 0,
    task: createDurations(),
    wait: createDurations(),
    page: createDurations(),
    hosts: new Map(),
    otherHosts: createHost(),
  };
}

function emptyCounts(): Counts & Named {
  return {};
}

function createDurations(): Durations & DurationSums {
  return { counts: new Array<number>(DURATION_BOUNDS_S.length + 1).fill(0), seconds: 0 };
}

function createHost(): Host & HostSums {
  return { requests: new Array<number>(ANSWER_CLASSES.length).fill(0), blocks: 0, seconds: 0, score: 0 };
}
