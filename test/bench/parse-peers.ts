/** Parsers of others that take part if somebody has installed them beside the bench. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { foldSpace } from '../../src/extract/html-text.ts';
import { projectRoot } from '../../src/project-root.ts';
import { EACH, FIELDS, ITEM, type Contestant, type Names, type Value } from './parse-wanted.ts';

interface QueryNode {
  querySelector(css: string): QueryNode | null;
  querySelectorAll(css: string): Iterable<QueryNode>;
  getAttribute(name: string): string | null | undefined;
  readonly textContent: string | null;
}

export async function loadPeers(): Promise<Contestant[]> {
  const found: Contestant[] = [];
  const cheerio = await loadPackage('cheerio');
  const nodeHtmlParser = await loadPackage('node-html-parser');
  const linkedom = await loadPackage('linkedom');
  if (cheerio) {
    const open = cheerio['load'] as (html: string) => Cheerio;
    const slim = (await loadPackage('cheerio/slim'))?.['load'] as typeof open | undefined;
    found.push({ name: 'cheerio (parse5)', extract: withCheerio(open) });
    if (slim) found.push({ name: 'cheerio/slim (htmlparser2)', extract: withCheerio(slim) });
  }
  if (nodeHtmlParser) {
    const parse = nodeHtmlParser['parse'] as (html: string) => QueryNode;
    found.push({ name: 'node-html-parser', extract: (html) => query(parse(html)) });
  }
  if (linkedom) {
    const parse = linkedom['parseHTML'] as (html: string) => { document: QueryNode };
    found.push({ name: 'linkedom', extract: (html) => query(parse(html).document) });
  }
  return found;
}

type Cheerio = (
  css: unknown,
  root?: unknown,
) => {
  first(): { text(): string; attr(name: string): string | undefined; length: number };
  toArray(): unknown[];
};

function withCheerio(open: (html: string) => Cheerio): (html: string) => unknown {
  return (html) => {
    const $ = open(html);
    const read = (names: Names, root?: unknown): Record<string, Value> =>
      Object.fromEntries(
        Object.entries(names).map(([name, [css, attr]]) => {
          const element = $(css, root).first();
          if (element.length === 0) return [name, null];
          return [name, attr === undefined ? foldSpace(element.text()) : (element.attr(attr) ?? null)];
        }),
      );
    return {
      ...read(FIELDS),
      items: $(EACH)
        .toArray()
        .map((element) => read(ITEM, element)),
    };
  };
}

function query(document: QueryNode): unknown {
  const read = (root: QueryNode, names: Names): Record<string, Value> =>
    Object.fromEntries(
      Object.entries(names).map(([name, [css, attr]]) => {
        const element = root.querySelector(css);
        if (!element) return [name, null];
        return [
          name,
          attr === undefined ? foldSpace(element.textContent ?? '') : (element.getAttribute(attr) ?? null),
        ];
      }),
    );
  return {
    ...read(document, FIELDS),
    items: [...document.querySelectorAll(EACH)].map((each) => read(each, ITEM)),
  };
}

export async function loadPackage(name: string): Promise<Record<string, unknown> | undefined> {
  const require = createRequire(join(projectRoot, 'test/bench/package.json'));
  let path: string;
  try {
    path = require.resolve(name);
  } catch {
    return undefined;
  }
  const loaded = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  return { ...(loaded['default'] as Record<string, unknown> | undefined), ...loaded };
}
