/** A page with its HTML, parsed when somebody looks at it. */
import { gunzipSync } from 'node:zlib';
import { Failure, messageOf } from '../domain/failure.ts';
import { parseDocument, type HtmlDocument } from '../extract/document.ts';
import { compileExtractor, type Extractor } from '../extract/extractor.ts';
import type { FieldSpec } from '../extract/field-spec.ts';
import { parseSitemap, SITEMAP_MAX_CHARACTERS, type Sitemap } from '../extract/sitemap.ts';
import type { Log } from '../telemetry/log.ts';
import type { Page, ParsedPage } from './page.ts';

type Fields = Readonly<Record<string, FieldSpec>>;

/** Handlers that keep their fields beside `run` have them compiled once. */
const compiled = new WeakMap<Fields, Extractor>();

export function parsePage(page: Page, log: () => Log): ParsedPage {
  let html: HtmlDocument | undefined;
  return {
    ...page,
    get html() {
      return (html ??= parseDocument(page.text()));
    },
    sitemap: () => readSitemap(page, log),
    extract(fields) {
      const { value, problems } = extractorOf(fields).extract(page).page;
      if (problems.length === 0) return value;
      const { host } = new URL(page.url);
      throw new Failure('TARGET', `the page of ${host} is not as it should be: ${problems.join('; ')}`);
    },
  };
}

function extractorOf(fields: Fields): Extractor {
  let extractor = compiled.get(fields);
  if (!extractor) compiled.set(fields, (extractor = compileExtractor({ fields })));
  return extractor;
}

/** Also one that is stored packed (`sitemap.xml.gz`), as many sites have it. What is too much of one is told. */
export function readSitemap(page: Page, log: () => Log): Sitemap {
  const map = parseSitemap(isPacked(page.body) ? unpack(page) : page.text(), page.url);
  const { pages, maps, truncated, leftOut } = map;
  if (truncated) log().warn('sitemap.truncated', { entries: pages.length + maps.length, leftOut });
  return map;
}

function isPacked(body: Uint8Array): boolean {
  return body[0] === 0x1f && body[1] === 0x8b;
}

function unpack({ body, url }: Page): string {
  try {
    return gunzipSync(body, { maxOutputLength: SITEMAP_MAX_CHARACTERS }).toString('utf8');
  } catch (error) {
    throw new Failure('TARGET', `the site map ${url} cannot be unpacked: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
