/** Pages with what the site said to recognise them by, the least recently used dropped first. Of this worker alone. */
import type { HttpAnswer } from '../http/engine.ts';

export interface CachedPage {
  readonly answer: HttpAnswer;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

export interface PageCache {
  find(key: string): CachedPage | undefined;
  /** An answer without anything to recognise it by is not kept, nor one that would push out too many others. */
  keep(key: string, answer: HttpAnswer): void;
  bytes(): number;
}

/** For headers and the entry itself. */
const OVERHEAD_BYTES = 2_048;
const SHARE_MAX = 8;

export function createPageCache(limits: { readonly maxBytes: number }): PageCache {
  const pages = new Map<string, CachedPage>();
  let total = 0;
  return {
    find(key) {
      const page = pages.get(key);
      if (!page) return undefined;
      pages.delete(key);
      pages.set(key, page);
      return page;
    },
    keep(key, answer) {
      drop(key);
      const { etag, 'last-modified': lastModified } = answer.headers;
      const bytes = sizeOf(answer);
      if ((etag === undefined && lastModified === undefined) || bytes * SHARE_MAX > limits.maxBytes) return;
      pages.set(key, { answer, etag, lastModified });
      total += bytes;
      for (const oldest of pages.keys()) {
        if (total <= limits.maxBytes) break;
        drop(oldest);
      }
    },
    bytes: () => total,
  };

  function drop(key: string): void {
    const page = pages.get(key);
    if (!page) return;
    pages.delete(key);
    total -= sizeOf(page.answer);
  }
}

function sizeOf({ body }: HttpAnswer): number {
  return body.length + OVERHEAD_BYTES;
}
