/**
 * One context of the browser per identity and egress: its cookies, its storage, its proxy. Those used last are kept, as
 * many as there may be; the others are closed.
 */
import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
import type { Tunnels } from '../http/tunnels.ts';
import { openRelayRoute, type RelayRoute } from './relay.ts';
import type { BrowserRequest } from './request.ts';

export interface Identity {
  readonly context: BrowserContext;
  readonly route: RelayRoute;
  readonly egress: string;
  /** Pages that are open. */
  busy: number;
}

/** What is decided about the requests of one page. */
export interface PagePlan {
  /** For the page itself, and for nothing that it loads. */
  readonly headers: BrowserRequest['headers'];
  readonly host: string;
  /** The page itself was asked for; what its frame asks for after that is the page's own doing. */
  begun: boolean;
  readonly onSent: (() => void) | undefined;
}

export interface Identities {
  readonly size: number;
  take(request: BrowserRequest): Promise<Identity>;
  rest(identity: Identity): Promise<void>;
  plan(page: Page, plan: PagePlan): void;
  /** Connections through this egress end. */
  drop(egress: string): void;
  /** After the browser is gone. */
  close(): Promise<void>;
}

/** Large, and of no use to somebody who reads HTML. */
const NOT_LOADED: ReadonlySet<string> = new Set(['image', 'media', 'font']);

export function createIdentities(
  browser: Browser,
  { tunnels, max }: { readonly tunnels: Tunnels; readonly max: number },
): Identities {
  /** In the order of use. */
  const kept = new Map<string, Promise<Identity>>();
  const all = new Set<Identity>();
  const plans = new WeakMap<Page, PagePlan>();

  return {
    get size() {
      return all.size;
    },
    async take(request) {
      const { id, address } = request.egress;
      const place = address ? [address.kind, address.host, address.port, address.username] : [];
      const key = JSON.stringify([id, place, request.identity, request.userAgent]);
      let made = kept.get(key);
      kept.delete(key);
      made ??= create(request);
      kept.set(key, made);
      try {
        const identity = await made;
        identity.busy += 1;
        return identity;
      } catch (error) {
        kept.delete(key);
        throw error;
      }
    },
    async rest(identity) {
      identity.busy -= 1;
      if (identity.busy === 0) await closePages(identity);
      if (kept.size > max) await trim();
    },
    plan: (page, plan) => void plans.set(page, plan),
    drop(egress) {
      for (const { route, egress: own } of all) if (own === egress) route.drop();
    },
    async close() {
      kept.clear();
      await Promise.all([...all].map(end));
    },
  };

  async function create({ egress, userAgent }: BrowserRequest): Promise<Identity> {
    const route = await openRelayRoute(tunnels, egress);
    try {
      const context = await browser.newContext({
        proxy: { server: `socks5://127.0.0.1:${route.port}`, bypass: '<-loopback>' },
        userAgent,
        serviceWorkers: 'block',
        acceptDownloads: false,
      });
      const identity: Identity = { context, route, egress: egress.id, busy: 0 };
      all.add(identity);
      await context.route('**/*', (each) =>
        judge(each).catch(() => each.abort('failed').catch(() => undefined)),
      );
      return identity;
    } catch (error) {
      await route.close();
      throw error;
    }
  }

  async function judge(route: Route): Promise<void> {
    const request = route.request();
    if (NOT_LOADED.has(request.resourceType())) return route.abort('blockedbyclient');
    if (!request.isNavigationRequest()) return route.continue();
    const frame = request.frame();
    if (frame.parentFrame() !== null) return route.continue();
    const plan = plans.get(frame.page());
    // A window that a page has opened: nobody looks at it.
    if (!plan) return route.abort('aborted');
    if (!plan.begun) {
      plan.begun = true;
      plan.onSent?.();
      return route.continue({ headers: { ...request.headers(), ...Object.fromEntries(plan.headers) } });
    }
    // Another host has rules and a pace of its own, which nobody has asked about. The page stays as it is.
    return new URL(request.url()).host === plan.host ? route.continue() : route.abort('aborted');
  }

  /** Windows that pages have opened, and left. */
  async function closePages({ context }: Identity): Promise<void> {
    for (const page of context.pages()) if (!plans.has(page)) await page.close().catch(() => undefined);
  }

  async function trim(): Promise<void> {
    for (const [key, made] of kept) {
      if (kept.size <= max) return;
      const identity = await made.catch(() => undefined);
      if (identity && identity.busy > 0) continue;
      kept.delete(key);
      if (identity) await end(identity);
    }
  }

  async function end(identity: Identity): Promise<void> {
    if (!all.delete(identity)) return;
    await identity.context.close().catch(() => undefined);
    await identity.route.close();
  }
}
