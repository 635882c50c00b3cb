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
  /** There was more than one site map may hold. */
  readonly truncated: boolean;
}

/** What the standard allows in one file. */
export const SITEMAP_ENTRIES_MAX = 50_000;
export const SITEMAP_MAX_CHARACTERS = 50 * 1024 * 1024;
const DEPTH_MAX = 64;
const LOC_MAX_CHARACTERS = 8_192;

/** `text` is already decompressed; `url` is where it came from. Anything that is no address is left out. */
export function parseSitemap(given: string, url: string): Sitemap {
  const text = given.slice(0, SITEMAP_MAX_CHARACTERS);
  const pages: SitemapEntry[] = [];
  const maps: SitemapEntry[] = [];
  let truncated = text.length < given.length;

  const add = (list: SitemapEntry[], written: string, lastModified = ''): void => {
    const resolved = resolveUrl(written.trim(), url);
    if (resolved === undefined) return;
    if (pages.length + maps.length >= SITEMAP_ENTRIES_MAX) truncated = true;
    else
      list.push(
        lastModified === '' ? { url: resolved } : { url: resolved, lastModified: lastModified.trim() },
      );
  };

  if (!text.trimStart().startsWith('<')) {
    for (const line of text.split(/\r?\n/, SITEMAP_ENTRIES_MAX + 1)) if (line.trim() !== '') add(pages, line);
    return { pages, maps, truncated };
  }
  readXml(text, (kind, loc, lastModified) => add(kind === 'url' ? pages : maps, loc, lastModified));
  return { pages, maps, truncated };
}

function readXml(
  text: string,
  found: (kind: 'url' | 'sitemap', loc: string, lastModified: string) => void,
): void {
  let entry: 'url' | 'sitemap' | undefined;
  let member: string | undefined;
  let loc = '';
  let lastModified = '';
  let depth = 0;
  const parser = new Parser(
    {
      onopentagname(written) {
        const name = localName(written);
        depth += 1;
        // No site map is that deep, and the parser takes the square of the depth.
        if (depth > DEPTH_MAX) parser.pause();
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
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
