/**
 * Pages by a real browser. One Chromium per worker, started when the first page is wanted and closed when none was for a
 * while. A slot is a page that may be open; it is taken before leave is asked for, so that a permit never waits for one.
 *
 *   none → starting → running → closing → none
 *                        ↓ crashed: what was under way fails as INTERNAL, the next page starts another
 */
import type { Browser } from 'playwright-core';
import { Failure } from '../domain/failure.ts';
import { checkRequest } from '../http/engine.ts';
import { HttpFailure } from '../http/http-failure.ts';
import { createTunnels } from '../http/tunnels.ts';
import type { Resolve } from '../http/guarded-lookup.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../telemetry/log.ts';
import { findChromium } from './find-chromium.ts';
import { createIdentities, type Identities } from './identities.ts';
import { launchChromium, loadPlaywright, type LoadPlaywright } from './launch.ts';
import { openRelayRoute, type RelayRoute } from './relay.ts';
import type { BrowserAnswer, BrowserRequest } from './request.ts';
import { createSlots } from './slots.ts';
import { visit } from './visit.ts';

export interface BrowserOptions {
  /** Where Chromium is; unset: where systems put it. */
  readonly path: string | undefined;
  /** Pages at once. */
  readonly pages: number;
  /** Without a page for so long the browser is closed. */
  readonly idleMs: number;
  readonly sandbox: boolean;
  readonly connectMs: number;
  /** Exact `ip:port` that may be reached although they are not on the public internet. */
  readonly allowLoopback: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  /** How names become addresses; the system's way unless given. */
  readonly resolve?: Resolve | undefined;
  readonly load?: LoadPlaywright | undefined;
}

export interface BrowserSlot {
  /** One page, no redirect followed. Throws what the http engine throws. */
  send(request: BrowserRequest, signal: AbortSignal): Promise<BrowserAnswer>;
  release(): void;
}

export interface BrowserEngine {
  /** Resolves when a page may be opened; the browser runs by then. */
  reserve(signal: AbortSignal): Promise<BrowserSlot>;
  /** Connections through this egress end. */
  drop(egress: string): void;
  stats(): {
    readonly pages: number;
    readonly identities: number;
    readonly sockets: number;
    readonly isRunning: boolean;
  };
  /** No process and no socket is left after it. */
  close(): Promise<void>;
}

interface Running {
  readonly browser: Browser;
  readonly identities: Identities;
  readonly refusing: RelayRoute;
}

/** For each page that may be open, one identity more that is kept for the next task. */
const IDENTITIES_PER_PAGE = 2;

export function createBrowserEngine(options: BrowserOptions): BrowserEngine {
  const { clock, log } = options;
  const slots = createSlots(options.pages);
  const tunnels = createTunnels(options);
  const endings = new Set<Promise<void>>();
  let running: Promise<Running> | undefined;
  let current: Running | undefined;
  let cancelIdle: (() => void) | undefined;
  let closing: Promise<void> | undefined;

  return {
    async reserve(signal) {
      if (closing) throw stopped();
      const free = await slots.take(signal);
      cancelIdle?.();
      const release = (): void => {
        free();
        if (slots.used === 0) planIdle();
      };
      try {
        await run();
      } catch (error) {
        release();
        throw error;
      }
      return { send, release };
    },
    drop: (egress) => current?.identities.drop(egress),
    stats: () => ({
      pages: slots.used,
      identities: current?.identities.size ?? 0,
      sockets: tunnels.size,
      isRunning: running !== undefined,
    }),
    close: () => (closing ??= close()),
  };

  async function send(request: BrowserRequest, signal: AbortSignal): Promise<BrowserAnswer> {
    const { host } = request.url;
    if (closing || signal.aborted)
      throw new HttpFailure('CANCELLED', `${host}: the request was cancelled`, { sent: false });
    checkRequest({ ...request, method: 'GET' });
    const mine = await run();
    try {
      return await visit(mine.identities, request, signal);
    } catch (error) {
      if (mine.browser.isConnected()) throw error;
      const [code, what] = isClosing()
        ? (['CANCELLED', 'the engine was closed'] as const)
        : (['INTERNAL', 'the browser crashed'] as const);
      throw new HttpFailure(code, `${host}: ${what}`, { cause: error, sent: true });
    }
  }

  function isClosing(): boolean {
    return closing !== undefined;
  }

  function run(): Promise<Running> {
    if (closing) return Promise.reject(stopped());
    running ??= start().catch((error: unknown) => {
      running = undefined;
      throw error;
    });
    return running;
  }

  async function start(): Promise<Running> {
    const path = await findChromium(options.path);
    const refusing = await openRelayRoute(tunnels, undefined);
    try {
      const { sandbox, load = loadPlaywright } = options;
      const browser = await launchChromium({ path, sandbox, refusingPort: refusing.port }, load);
      const max = options.pages * IDENTITIES_PER_PAGE;
      const started = { browser, refusing, identities: createIdentities(browser, { tunnels, max }) };
      current = started;
      browser.on('disconnected', () => gone(started));
      log.info('browser.started', { version: browser.version() });
      return started;
    } catch (error) {
      await refusing.close();
      throw error;
    }
  }

  function gone(one: Running): void {
    if (current === one) {
      current = undefined;
      running = undefined;
      if (!closing) log.error('browser.crashed', {});
    }
    track(clear(one));
  }

  async function clear({ identities, refusing }: Running): Promise<void> {
    await identities.close();
    await refusing.close();
  }

  function planIdle(): void {
    cancelIdle?.();
    if (!closing) cancelIdle = clock.after(options.idleMs, () => track(shut()));
  }

  /** Forgets it first: who comes meanwhile gets another. */
  async function shut(): Promise<void> {
    if (slots.used > 0 && !closing) return;
    const one = await running?.catch(() => undefined);
    if (!one || current !== one || (slots.used > 0 && !closing)) return;
    current = undefined;
    running = undefined;
    await one.browser.close().catch(() => undefined);
    log.info('browser.closed', {});
  }

  function track(ending: Promise<void>): void {
    const settled = ending.catch(() => undefined).finally(() => endings.delete(settled));
    endings.add(settled);
  }

  async function close(): Promise<void> {
    cancelIdle?.();
    await shut();
    await tunnels.close();
    while (endings.size > 0) await Promise.all(endings);
  }
}

function stopped(): Failure {
  return new Failure('CANCELLED', 'the worker stops');
}
