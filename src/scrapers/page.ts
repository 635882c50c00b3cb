/** What a handler fetches with, and what it gets. */
import type { HtmlDocument } from '../extract/document.ts';
import type { FieldSpec } from '../extract/field-spec.ts';
import type { Sitemap } from '../extract/sitemap.ts';

export interface FetchOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Sent as JSON, with its content type. */
  readonly json?: unknown;
  /** For the whole of it: every hop, from the first byte sent to the last byte read. */
  readonly timeoutMs?: number;
  /** Of the body, after decompression. */
  readonly maxBytes?: number;
  readonly maxRedirects?: number;
  /** Not before so long after the last page of this attempt; what the host or the scraper asks for counts besides. */
  readonly delayMs?: number;
  /** Statuses that are an answer to this handler; without it 200-299 and 304 are. */
  readonly accept?: readonly number[] | 'any';
  /** Of an earlier answer: the page says `notModified` if it still stands. */
  readonly etag?: string;
  readonly lastModified?: string;
  /** Keeps the page in this worker, and asks the site only whether it still stands. */
  readonly cache?: boolean;
  readonly profile?: string;
  readonly http2?: boolean;
  readonly robots?: boolean;
  /** `browser`: the page as it is after its scripts have run; GET only. */
  readonly engine?: Engine;
  /** With the browser: `load` (the default), `networkidle`, or a selector of what must be there. */
  readonly waitFor?: string;
}

export type Engine = 'http' | 'browser';

export interface PageTiming {
  readonly connectMs?: number | undefined;
  readonly firstByteMs: number;
  readonly totalMs: number;
}

export interface Page {
  /** After redirects. */
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** In the charset that the page says it has. */
  readonly text: () => string;
  readonly json: () => unknown;
  /** The id of the way it came: of a proxy, or `direct`. */
  readonly egress: string;
  readonly fromCache: boolean;
  readonly notModified: boolean;
  /** The addresses that led here, in order. */
  readonly redirects: readonly string[];
  readonly timing: PageTiming;
}

/** A page whose HTML can be asked for parts of it; nothing is parsed before that. */
export interface ParsedPage extends Page {
  readonly html: HtmlDocument;
  /**
   * Fields as a template has them: `extract({ title: { css: 'h1' }, price: { css: '.price', type: 'price' } })`.
   * Throws `TARGET` with what is wrong where a field is required and missing, or is not what its type says.
   */
  readonly extract: (fields: Readonly<Record<string, FieldSpec>>) => Readonly<Record<string, unknown>>;
  /** The page read as a site map: `enqueue(here.sitemap().pages)`, and `.maps` for those that it leads to. */
  readonly sitemap: () => Sitemap;
}

export type Fetch = (url: string | URL, options?: FetchOptions) => Promise<Page>;

/** Who the handler is at a site. What is changed here is stored, and the next task that gets the session has it. */
export interface SessionHandle {
  readonly id: string;
  /** `fresh`: nothing was done with it yet. */
  readonly state: 'fresh' | 'valid';
  readonly userAgent: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly validUntil: number | undefined; // epoch ms
  readonly cookie: (name: string, url: string) => string | undefined;
  /** As a `Set-Cookie` header would say it. */
  readonly setCookie: (cookie: string, url: string) => void;
  /** Sent with every request of this session. */
  readonly setHeaders: (headers: Readonly<Record<string, string>>) => void;
  readonly setValidUntil: (at: number | undefined) => void;
  /** It is signed out, or burnt: nobody gets it again. */
  readonly invalidate: () => void;
}
