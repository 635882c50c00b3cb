/** What is taken out of real pages, and the parsers that take it. What is empty is left out. */
import * as cssSelect from 'css-select';
import { parseDocument } from 'htmlparser2';
import { compileExtractor } from '../../src/extract/extractor.ts';
import { foldSpace } from '../../src/extract/html-text.ts';
import { loadPackage } from './parse-peers.ts';

/** Texts as a reader sees them; a link is its address and its text. */
export interface Found {
  readonly links: readonly string[];
  readonly headings: readonly string[];
  readonly cells: readonly string[];
  readonly listItems: readonly string[];
}

export interface RealContestant {
  readonly name: string;
  readonly extract: (html: string) => Found;
}

/** The one that follows the standard: the others are held to what it finds. */
export const JUDGE = 'parse5, by cheerio';
export const ONE_PASS = 'trawl, one pass';

const LINKS = 'a[href]';
const TEXTS = { headings: 'h1, h2, h3, h4, h5, h6', cells: 'td, th', listItems: 'li' } as const;
/** What is in these is shown to nobody. */
const HIDDEN: ReadonlySet<string> = new Set(['script', 'style', 'iframe', 'noembed', 'noframes']);

export async function loadRealContestants(): Promise<readonly RealContestant[]> {
  const cheerio = await loadPackage('cheerio');
  const nodeHtmlParser = await loadPackage('node-html-parser');
  const load = cheerio?.['load'] as CheerioLoad | undefined;
  const parse = nodeHtmlParser?.['parse'] as NodeHtmlParse | undefined;
  return [
    // Scrapers run no scripts, and <noscript> is written for those who do not.
    ...(load
      ? [{ name: JUDGE, extract: onTree((html) => load(html, { scriptingEnabled: false }).root()[0]) }]
      : []),
    { name: ONE_PASS, extract: own() },
    { name: 'trawl, tree + css-select', extract: own('tree') },
    { name: 'htmlparser2 + css-select, compiled', extract: onTree((html) => parseDocument(html)) },
    ...(parse ? [{ name: 'node-html-parser', extract: nodeHtml(parse) }] : []),
  ];
}

interface OwnFound extends Omit<Found, 'links'> {
  readonly links: readonly { readonly href: string | null; readonly text: string | null }[];
}

function own(way?: 'tree'): (html: string) => Found {
  const texts = Object.entries(TEXTS).map(([name, css]) => [name, { css, all: true }] as const);
  const links = { each: LINKS, fields: { href: { attr: 'href' }, text: {} } };
  const extractor = compileExtractor({ fields: { links, ...Object.fromEntries(texts) } }, way);
  if (extractor.way !== (way ?? 'stream')) throw new Error(`the pages would be read as ${extractor.way}`);
  return (html) => {
    const { page } = extractor.extract({
      url: 'http://site.example/',
      headers: {},
      text: () => html,
      json: () => undefined,
    });
    const { links, ...texts } = page.value as unknown as OwnFound;
    return { ...texts, links: links.map(({ href, text }) => linkOf(href, text)) };
  };
}

/** A node of htmlparser2's tree, in which cheerio keeps what parse5 has read too. */
interface TreeNode {
  readonly type: string;
  readonly name?: string;
  readonly data?: string;
  readonly attribs?: Readonly<Record<string, string>>;
  readonly children?: readonly TreeNode[];
}
type CheerioLoad = (html: string, options: { scriptingEnabled: boolean }) => { root(): readonly [TreeNode] };

function onTree(
  parse: (html: string) => { readonly children?: readonly unknown[] },
): (html: string) => Found {
  const compile = (css: string) => cssSelect.compile<never, never>(css);
  const links = compile(LINKS);
  const headings = compile(TEXTS.headings);
  const cells = compile(TEXTS.cells);
  const listItems = compile(TEXTS.listItems);
  return (html) => {
    const children = parse(html).children as never[];
    const all = (query: typeof links): TreeNode[] => cssSelect.selectAll(query, children);
    const texts = (query: typeof links): string[] => shown(all(query).map((each) => foldSpace(textOf(each))));
    return {
      links: all(links).map((each) => linkOf(each.attribs?.['href'], textOf(each))),
      headings: texts(headings),
      cells: texts(cells),
      listItems: texts(listItems),
    };
  };
}

function textOf({ type, name = '', data = '', children = [] }: TreeNode): string {
  if (type === 'text') return data;
  if (HIDDEN.has(name)) return '';
  return name === 'br' ? '\n' : children.map(textOf).join('');
}

interface NodeHtmlNode {
  readonly nodeType: number;
  readonly rawTagName: string | undefined; // texts have none
  readonly text: string;
  readonly childNodes: readonly NodeHtmlNode[];
  getAttribute(name: string): string | undefined;
  querySelectorAll(css: string): readonly NodeHtmlNode[];
}
type NodeHtmlParse = (html: string, options: object) => NodeHtmlNode;

/** With tags in <pre> and <noscript> read as such, which it does not do by default. */
function nodeHtml(parse: NodeHtmlParse): (html: string) => Found {
  const options = { blockTextElements: { script: true, style: true } };
  return (html) => {
    const root = parse(html, options);
    const texts = (css: string): string[] =>
      shown(root.querySelectorAll(css).map((each) => foldSpace(nodeText(each))));
    return {
      links: root.querySelectorAll(LINKS).map((each) => linkOf(each.getAttribute('href'), nodeText(each))),
      headings: texts(TEXTS.headings),
      cells: texts(TEXTS.cells),
      listItems: texts(TEXTS.listItems),
    };
  };
}

const TEXT_NODE = 3;

function nodeText(node: NodeHtmlNode): string {
  // Its text is read only where it is one: on an element it would be that of all in it.
  if (node.nodeType === TEXT_NODE) return node.text;
  const name = (node.rawTagName ?? '').toLowerCase();
  if (HIDDEN.has(name)) return '';
  return name === 'br' ? '\n' : node.childNodes.map(nodeText).join('');
}

function linkOf(href: string | null | undefined, text: string | null | undefined): string {
  return `${foldSpace(href ?? '')} ${foldSpace(text ?? '')}`;
}

function shown(texts: readonly string[]): string[] {
  return texts.filter((text) => text !== '');
}
