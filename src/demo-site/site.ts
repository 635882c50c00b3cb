/**
 * The demo site: a small web with seeded behaviour that records what it saw. Tests assert on that record, not on what
 * we think we sent; people try their scrapers on it.
 */
import { createServer as createHttpServer, type Server, type ServerOptions } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { makeCertificate, type CertificateFault } from './certificate.ts';
import { listen, type Listener } from './listener.ts';
import { createProducts, type Products } from './products.ts';
import { createRequestLog, type RequestRecord } from './request-log.ts';
import { DEFAULT_ROBOTS, type Robots } from './robots.ts';
import { accountPages } from './routes/account.ts';
import { apiPages } from './routes/api.ts';
import { bodyPages } from './routes/bodies.ts';
import { brokenPages } from './routes/broken.ts';
import { cataloguePages } from './routes/catalogue.ts';
import { controlPages } from './routes/control.ts';
import { plainPages } from './routes/plain.ts';
import { renderedPages } from './routes/rendered.ts';
import { wallPages } from './routes/walls.ts';
import { createRuleBook, type Rule } from './rules.ts';
import { findMaxConcurrent, findMaxPerWindow, findSpacing, type Look } from './seen.ts';
import { createServe } from './serve.ts';
import { createSessions } from './sessions.ts';
import { createTurnstiles } from './turnstile.ts';

export interface SiteTls {
  readonly fault: CertificateFault;
  readonly port?: number;
}

export interface DemoSiteOptions {
  readonly seed?: number;
  readonly port?: number; // 0 or none = any that is free
  readonly host?: string;
  readonly products?: number;
  /** Also serve https, with a certificate that has this fault. */
  readonly tls?: SiteTls;
  readonly robots?: Robots;
  /** Requests that the record keeps, at least. */
  readonly logMax?: number;
  readonly socketsMax?: number;
}

export interface DemoSite {
  readonly url: string; // without a slash at the end
  readonly host: string;
  readonly port: number;
  readonly https: { readonly url: string; readonly port: number; readonly certificate: string } | undefined;
  readonly products: Products;
  /** What the site saw, oldest first; bounded, see `dropped`. */
  readonly log: readonly RequestRecord[];
  /** How many records were forgotten because there were too many. */
  readonly dropped: number;
  /** The worst of what the site saw. */
  readonly seen: {
    spacing(look?: Look): number; // ms; Infinity when there are no two requests
    maxConcurrent(look?: Look): number;
    perWindow(windowMs: number, look?: Look): number;
  };
  /** Requests whose answer is under way. */
  open(): number;
  sockets(): number;
  /** The first request, past or future, that passes the test when it arrives or when it ends. */
  until(test: (record: RequestRecord) => boolean): Promise<RequestRecord>;
  setRules(rules: readonly Rule[]): void;
  setRobots(robots: Robots): void;
  /** Requests from this address are recorded under this name. */
  nameAddress(ip: string, name: string): void;
  /** What /__proxies tells. */
  offerProxies(urls: readonly string[]): void;
  /** Forgets requests, sessions, bans and counts; rules stay. */
  reset(): void;
  close(): Promise<void>;
}

const SERVER: ServerOptions = { keepAliveTimeout: 65_000, maxHeaderSize: 64 * 1024, requestTimeout: 60_000 };

export async function startDemoSite(options: DemoSiteOptions = {}): Promise<DemoSite> {
  const { host = '127.0.0.1' } = options;
  const listeners: Listener[] = [];
  const sockets = (): number => listeners.reduce((sum, listener) => sum + listener.sockets(), 0);
  const close = async (): Promise<void> => {
    await Promise.all(listeners.map((listener) => listener.stop()));
  };
  const { serve, ...state } = createState(options, sockets);

  const open = async (server: Server, port: number | undefined): Promise<Listener> => {
    const listener = await listen(server, { host, port: port ?? 0, socketsMax: options.socketsMax ?? 4096 });
    listeners.push(listener);
    return listener;
  };
  const openSecure = async ({ fault, port }: SiteTls): Promise<DemoSite['https']> => {
    const { key, cert } = makeCertificate(fault, Date.now());
    const secure = await open(createHttpsServer({ ...SERVER, key, cert }, serve), port);
    return { url: urlOf('https', secure), port: secure.port, certificate: cert };
  };

  const plain = await open(createHttpServer(SERVER, serve), options.port);
  try {
    const https = options.tls && (await openSecure(options.tls));
    const { log } = state;
    return {
      ...state,
      url: urlOf('http', plain),
      host,
      port: plain.port,
      https,
      sockets,
      close,
      get log() {
        return log.records();
      },
      get dropped() {
        return log.dropped();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Everything that the site remembers, and who answers by it. */
function createState(
  { seed = 1, products: count = 1000, logMax = 20_000, ...options }: DemoSiteOptions,
  sockets: () => number,
) {
  const products = createProducts({ seed, count });
  const log = createRequestLog(logMax);
  const sessions = createSessions(seed);
  const turnstiles = createTurnstiles();
  const rules = createRuleBook();
  const names = new Map<string, string>();
  let robots = options.robots ?? DEFAULT_ROBOTS;
  let proxies: readonly string[] = [];

  const reset = (): void => {
    for (const part of [log, sessions, turnstiles, rules]) part.clear();
  };
  const pages = {
    ...cataloguePages(products, () => robots),
    ...apiPages(products, sessions),
    ...accountPages(sessions),
    ...wallPages(turnstiles),
    ...bodyPages(),
    ...brokenPages(),
    ...plainPages(),
    ...renderedPages(products),
  };
  const control = controlPages({ log, sessions, sockets, proxies: () => proxies, reset });
  return {
    serve: createServe({ pages, control, log, rules, nameOf: (ip) => names.get(ip) ?? ip }),
    products,
    log,
    reset,
    seen: {
      spacing: (look?: Look) => findSpacing(log.records(), look),
      maxConcurrent: (look?: Look) => findMaxConcurrent(log.records(), look),
      perWindow: (windowMs: number, look?: Look) => findMaxPerWindow(log.records(), windowMs, look),
    },
    open: () => log.open(),
    until: (test: (record: RequestRecord) => boolean) => log.until(test),
    setRules: (next: readonly Rule[]) => rules.set(next),
    setRobots: (next: Robots) => void (robots = next),
    nameAddress: (ip: string, name: string) => void names.set(ip, name),
    offerProxies: (urls: readonly string[]) => void (proxies = urls),
  };
}

function urlOf(scheme: string, { host, port }: Listener): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
