/**
 * Watches the request for the page itself. A redirect is stopped and becomes the answer: where it leads is asked for like
 * any other page, with the leave of its host.
 */
import type { CDPSession, Page } from 'playwright-core';
import { isRedirect } from '../policy/next-hop.ts';

export interface MainAnswer {
  readonly status: number;
  /** By lower-case name; several of one name are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly isRedirect: boolean;
}

export interface MainWatch {
  /** Once the page, or a redirect in its place, has begun to come. */
  answer(): MainAnswer | undefined;
  readonly answeredAt: number; // monotonic ms
}

interface Paused {
  readonly requestId: string;
  readonly frameId: string;
  readonly request: { readonly url: string };
  readonly responseStatusCode?: number | undefined;
  readonly responseHeaders?: readonly { readonly name: string; readonly value: string }[] | undefined;
}

export async function watchMain(page: Page, host: string): Promise<MainWatch> {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send('Page.getFrameTree');
  const mainFrame = frameTree.frame.id;
  let answer: MainAnswer | undefined;
  let answeredAt = 0;
  session.on('Fetch.requestPaused', (paused) => void settle(paused).catch(() => undefined));
  await session.send('Fetch.enable', {
    patterns: [{ urlPattern: '*', resourceType: 'Document', requestStage: 'Response' }],
  });
  return {
    answer: () => answer,
    get answeredAt() {
      return answeredAt;
    },
  };

  async function settle(paused: Paused): Promise<void> {
    const { requestId, responseStatusCode: status } = paused;
    if (paused.frameId !== mainFrame || status === undefined) return resume(session, requestId);
    const read = readAnswer(status, paused.responseHeaders ?? []);
    const isFirst = answer === undefined;
    if (isFirst) {
      answer = read;
      answeredAt = performance.now();
    }
    if (!read.isRedirect) return resume(session, requestId);
    // What the page does on its own account later on stays at its host.
    if (!isFirst && hostAfter(paused.request.url, read) === host) return resume(session, requestId);
    await session.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' });
  }
}

async function resume(session: CDPSession, requestId: string): Promise<void> {
  await session.send('Fetch.continueRequest', { requestId });
}

function readAnswer(status: number, list: readonly { name: string; value: string }[]): MainAnswer {
  // Without a prototype, because the names come from the site.
  const headers = Object.create(null) as Record<string, string>;
  for (const { name, value } of list) {
    const key = name.toLowerCase();
    if (key !== 'set-cookie') headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
  }
  return { status, headers, isRedirect: isRedirect(status) && headers['location'] !== undefined };
}

function hostAfter(from: string, { headers }: MainAnswer): string | undefined {
  const location = headers['location'] ?? '';
  return URL.canParse(location, from) ? new URL(location, from).host : undefined;
}
