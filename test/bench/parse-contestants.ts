/** The parsers that the bench compares, each taking the same values out of a page. */
import * as cssSelect from 'css-select';
import { Parser, parseDocument } from 'htmlparser2';
import { compileExtractor } from '../../src/extract/extractor.ts';
import type { FieldSpec, ListSpec } from '../../src/extract/field-spec.ts';
import { foldSpace } from '../../src/extract/html-text.ts';
import { loadPeers } from './parse-peers.ts';
import { EACH, FIELDS, ITEM, type Contestant, type Names, type Value } from './parse-wanted.ts';

/** What bad editors and truncated answers leave: end tags that are missing or stray, attributes without quotes. */
export function breakHtml(html: string, page: number): string {
  let place = page;
  return html.replace(
    /<\/(span|b|time|th|td|div|a)>|"(\w+)"(?=[\s>])/g,
    (whole: string, tag: string | undefined, word: string | undefined) => {
      place += 1;
      if (word !== undefined) return place % 2 === 0 ? word : whole;
      if (place % 17 === 0 && (tag === 'th' || tag === 'td')) return '';
      return place % 13 === 0 ? `${whole}</i></${tag === 'div' ? 'p' : 'div2'}>` : whole;
    },
  );
}

export async function loadContestants(): Promise<readonly Contestant[]> {
  return [
    { name: 'trawl, one pass', extract: own() },
    { name: 'trawl, tree + css-select', extract: own('tree') },
    { name: 'htmlparser2 + css-select, compiled', extract: htmlparser2() },
    { name: 'htmlparser2, tokens only, finds nothing', extract: tokens },
    ...(await loadPeers()),
  ];
}

function own(way?: 'tree'): (html: string) => unknown {
  const specs = (names: Names): Record<string, FieldSpec> =>
    Object.fromEntries(Object.entries(names).map(([name, [css, attr]]) => [name, { css, attr }]));
  const items: ListSpec = { each: EACH, fields: specs(ITEM) };
  const extractor = compileExtractor({ fields: specs(FIELDS), items }, way);
  return (html) => {
    const { page, items: found } = extractor.extract({
      url: 'http://site.example/',
      headers: {},
      text: () => html,
      json: () => undefined,
    });
    return { ...page.value, items: found.map(({ value }) => value) };
  };
}

function htmlparser2(): (html: string) => unknown {
  type Node = ReturnType<typeof parseDocument>['children'][number];
  const compile = (names: Names): [string, ReturnType<typeof cssSelect.compile>, string | undefined][] =>
    Object.entries(names).map(([name, [css, attr]]) => [name, cssSelect.compile(css), attr]);
  const fields = compile(FIELDS);
  const item = compile(ITEM);
  const each = cssSelect.compile<Node, Node & { attribs: Record<string, string> }>(EACH);
  const read = (root: Node, wanted: typeof fields): Record<string, Value> => {
    const found: Record<string, Value> = {};
    for (const [name, query, attr] of wanted) {
      const element = cssSelect.selectOne<Node, Node>(query, root) as
        (Node & { attribs: Record<string, string> }) | null;
      found[name] = element
        ? attr === undefined
          ? foldSpace(textOfNode(element))
          : (element.attribs[attr] ?? null)
        : null;
    }
    return found;
  };
  return (html) => {
    const document = parseDocument(html);
    const items = cssSelect.selectAll(each, document.children).map((element) => read(element, item));
    return { ...read(document, fields), items };
  };
}

function textOfNode(node: { type: string; data?: string; children?: unknown[] }): string {
  if (node.type === 'text') return node.data ?? '';
  return (node.children ?? []).map((child) => textOfNode(child as typeof node)).join('');
}

/** What reading the text costs at the least with that parser. */
function tokens(html: string): number {
  let count = 0;
  const parser = new Parser({
    onopentag: () => (count += 1),
    ontext: () => (count += 1),
    onclosetag: () => (count += 1),
  });
  parser.end(html);
  return count;
}
