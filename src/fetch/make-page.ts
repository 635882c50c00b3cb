/** An answer as the page that a handler gets. Text and JSON are read when they are asked for. */
import { Failure } from '../domain/failure.ts';
import type { HttpAnswer } from '../http/engine.ts';
import { decodeText } from '../policy/decode-text.ts';
import type { Page } from '../scrapers/page.ts';

export interface PageFacts {
  readonly url: string;
  readonly egress: string;
  readonly redirects: readonly string[];
  readonly fromCache: boolean;
  readonly notModified: boolean;
}

export function makePage({ status, headers, body, timing }: HttpAnswer, facts: PageFacts): Page {
  let text: string | undefined;
  const read = (): string => (text ??= decodeText(body, headers['content-type']));
  const { url, egress, redirects, fromCache, notModified } = facts;
  return {
    url,
    egress,
    redirects,
    fromCache,
    notModified,
    status,
    headers,
    body,
    timing,
    text: read,
    json() {
      try {
        return JSON.parse(read()) as unknown;
      } catch (cause) {
        throw new Failure('TARGET', `${new URL(url).host} answered with something that is not JSON`, {
          cause,
        });
      }
    },
  };
}
