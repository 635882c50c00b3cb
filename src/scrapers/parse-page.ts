/** A page with its HTML, parsed when somebody looks at it. */
import { Failure } from '../domain/failure.ts';
import { parseDocument, type HtmlDocument } from '../extract/document.ts';
import { compileExtractor, type Extractor } from '../extract/extractor.ts';
import type { FieldSpec } from '../extract/field-spec.ts';
import { parseSitemap } from '../extract/sitemap.ts';
import type { Page, ParsedPage } from './page.ts';

type Fields = Readonly<Record<string, FieldSpec>>;

/** Handlers that keep their fields beside `run` have them compiled once. */
const compiled = new WeakMap<Fields, Extractor>();

export function parsePage(page: Page): ParsedPage {
  let html: HtmlDocument | undefined;
  return {
    ...page,
    get html() {
      return (html ??= parseDocument(page.text()));
    },
    sitemap: () => parseSitemap(page.text(), page.url),
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
