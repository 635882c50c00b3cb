/** Site maps: the addresses that a site lists, or the further site maps that have them. Plain lists of lines too. */
import { Parser } from 'htmlparser2';
import { resolveUrl } from './convert.ts';

export interface SitemapEntry {
  readonly url: string;
  /** As the site wrote it. */
  readonly lastModified?: string;
}

export interface Sitemap {
  readonly pages: readonly SitemapEntry[];
  /** Further site maps. */
  readonly maps: readonly SitemapEntry[];
  /** There was more than one site map may hold, or it was too strange to be read to its end. */
  readonly truncated: boolean;
  /** How many entries that is, as far as they can be counted. */
  readonly leftOut: number;
}

/** What the standard allows in one file. */
export const SITEMAP_ENTRIES_MAX = 50_000;
export const SITEMAP_MAX_CHARACTERS = 50 * 1024 * 1024;
const DEPTH_MAX = 64;
const LOC_MAX_CHARACTERS = 8_192;
const LINE = /\S[^\n]*/g;

/** `text` is already decompressed; `url` is where it came from. Anything that is no address is left out. */
export function parseSitemap(given: string, url: string): Sitemap {
  const isXml = given.trimStart().startsWith('<');
  const text = beginningOf(given, isXml ? '<' : '\n');
  const pages: SitemapEntry[] = [];
  const maps: SitemapEntry[] = [];
  let leftOut = countIn(given.slice(text.length), isXml ? /<loc[\s>]/g : LINE);

  const add = (list: SitemapEntry[], written: string, lastModified = ''): void => {
    if (pages.length + maps.length >= SITEMAP_ENTRIES_MAX) {
      leftOut += 1;
      return;
    }
    const resolved = resolveUrl(written.trim(), url);
    if (resolved === undefined) return;
    list.push(lastModified === '' ? { url: resolved } : { url: resolved, lastModified: lastModified.trim() });
  };

  let isWhole = true;
  if (isXml)
    isWhole = readXml(text, (kind, loc, lastModified) =>
      add(kind === 'url' ? pages : maps, loc, lastModified),
    );
  else for (const [line] of text.matchAll(LINE)) add(pages, line);
  return { pages, maps, truncated: leftOut > 0 || text.length < given.length || !isWhole, leftOut };
}

/** As much as is read, up to where something begins: half an address would be another one. */
function beginningOf(text: string, start: string): string {
  if (text.length <= SITEMAP_MAX_CHARACTERS) return text;
  return text.slice(0, Math.max(0, text.lastIndexOf(start, SITEMAP_MAX_CHARACTERS - 1)));
}

function countIn(text: string, pattern: RegExp): number {
  const counting = new RegExp(pattern);
  let count = 0;
  while (counting.test(text)) count += 1;
  return count;
}

/** Whether it came to the end. */
function readXml(
  text: string,
  found: (kind: 'url' | 'sitemap', loc: string, lastModified: string) => void,
): boolean {
  let entry: 'url' | 'sitemap' | undefined;
  let member: string | undefined;
  let loc = '';
  let lastModified = '';
  let depth = 0;
  let isWhole = true;
  const parser = new Parser(
    {
      onopentagname(written) {
        const name = localName(written);
        depth += 1;
        // No site map is that deep, and the parser takes the square of the depth.
        if (depth > DEPTH_MAX) {
          isWhole = false;
          parser.pause();
        }
        if (name === 'url' || name === 'sitemap') {
          entry = name;
          loc = lastModified = '';
        }
        // `image:loc` is the address of a picture.
        member = entry !== undefined && (written === 'loc' || written === 'lastmod') ? written : undefined;
      },
      ontext(part) {
        if (member === 'loc' && loc.length < LOC_MAX_CHARACTERS) loc += part;
        else if (member === 'lastmod' && lastModified.length < 100) lastModified += part;
      },
      onclosetag(written) {
        member = undefined;
        depth -= 1;
        if (entry === undefined || localName(written) !== entry) return;
        if (loc !== '') found(entry, loc, lastModified);
        entry = undefined;
      },
    },
    { xmlMode: true },
  );
  parser.end(text);
  return isWhole;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
