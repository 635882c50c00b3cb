/** What the browser is asked for, and what comes of it: like the http engine, and with the cookies of a whole page. */
import type { HttpAnswer, HttpRequest } from '../http/engine.ts';

export interface BrowserCookie {
  readonly name: string;
  readonly value: string;
  /** With a dot in front: for the hosts below it as well. */
  readonly domain: string;
  readonly path: string;
  readonly expires: number; // epoch s; -1: with the session
  readonly httpOnly: boolean;
  readonly secure: boolean;
  readonly sameSite: 'Strict' | 'Lax' | 'None';
}

export interface BrowserRequest extends Pick<
  HttpRequest,
  'url' | 'headers' | 'egress' | 'timeouts' | 'maxBytes' | 'onSent'
> {
  readonly userAgent: string;
  /** Pages of one identity through one egress share what sites keep in a browser; others see nothing of it. */
  readonly identity: string;
  readonly cookies: readonly BrowserCookie[];
  /** `load`, `networkidle`, or a selector of what must be there. */
  readonly waitFor: string;
}

/** Its body is what the page has become: HTML as it stands after scripts have run. */
export interface BrowserAnswer extends HttpAnswer {
  readonly cookies: readonly BrowserCookie[];
}
