/** What all attempts of a worker fetch with. */
import type { UseOutcome } from '../domain/egress.ts';
import type { BrowserEngine } from '../browser/engine.ts';
import type { HttpEngine, HttpTimeouts } from '../http/engine.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../telemetry/log.ts';
import type { Circuits } from './circuits.ts';
import type { EgressDefaults } from './egress-policy.ts';
import type { LeasePool } from './lease-ports.ts';
import type { PageCache } from './page-cache.ts';
import type { Profiles } from './profiles.ts';
import type { RobotsKeeper } from './robots-keeper.ts';

export interface FetchSettings {
  readonly timeouts: HttpTimeouts;
  readonly maxBytes: number;
  readonly maxRedirects: number;
  readonly http2: boolean;
  readonly robots: boolean;
  readonly profile: string;
  /** Where the scraper does not say. */
  readonly egress: EgressDefaults;
}

/** `soft_block`: the scraper did not recognise the page. */
export type FetchOutcome = UseOutcome | 'soft_block';

export interface FetchFacts {
  readonly ms: number;
  readonly bytes: number;
  readonly host: string;
  /** Absent: no answer came. */
  readonly status?: number | undefined;
  /** A redirect and robots.txt are requests, but no pages. */
  readonly isPage: boolean;
}

export interface FetchMeter {
  fetched(outcome: FetchOutcome, facts: FetchFacts): void;
}

export interface FetchParts {
  readonly pool: LeasePool;
  readonly engine: HttpEngine;
  readonly browser: BrowserEngine;
  readonly circuits: Circuits;
  readonly robots: RobotsKeeper;
  readonly cache: PageCache;
  readonly settings: FetchSettings;
  readonly profiles: Profiles;
  readonly clock: Clock;
  readonly meter: FetchMeter;
  readonly log: Log;
}
