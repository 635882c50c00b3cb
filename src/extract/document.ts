/** A light tree of a page, for selectors that look forward or upward. Elements know their places in the text. */
import { decodeHTML } from 'entities/decode';
import { attributeValue, type Attributes } from './attributes.ts';
import { TREE_ELEMENTS_MAX, tooMuch } from './limits.ts';
import { createTag, createTagTable, type Tag } from './tags.ts';
import { createWalker } from './walk-html.ts';

export interface TextNode {
  readonly kind: 'text';
  readonly parent: ElementNode;
  readonly start: number;
  readonly end: number;
  readonly coded: boolean;
}

export interface ElementNode {
  readonly kind: 'element';
  readonly tag: Tag;
  /** Undefined: it is the page itself. */
  readonly parent: ElementNode | undefined;
  readonly children: (ElementNode | TextNode)[];
  readonly attributes: ReadonlyMap<string, string>;
  readonly previous: ElementNode | undefined;
  readonly start: number;
  end: number;
}

export type HtmlNode = ElementNode | TextNode;

export interface HtmlDocument {
  readonly html: string;
  readonly root: ElementNode;
}

const TAGS = createTagTable();
const NONE: ReadonlyMap<string, string> = new Map();

export function parseDocument(html: string): HtmlDocument {
  const root = createElement(createTag('', -1), undefined, NONE, undefined, 0);
  root.end = html.length;
  const open: ElementNode[] = [root];
  const lastChild: (ElementNode | undefined)[] = [undefined];
  let count = 0;

  const walk = createWalker(TAGS, {
    open(tag, attributes, contentStart) {
      count += 1;
      if (count > TREE_ELEMENTS_MAX) throw tooMuch(`more than ${TREE_ELEMENTS_MAX} elements`);
      const parent = open.at(-1) ?? root;
      const previous = lastChild[open.length - 1];
      const element = createElement(tag, parent, readAll(attributes), previous, contentStart);
      parent.children.push(element);
      lastChild[open.length - 1] = element;
      lastChild[open.length] = undefined;
      open.push(element);
    },
    close(contentEnd) {
      const element = open.pop();
      if (element) element.end = contentEnd;
    },
    text(start, end, inside) {
      const parent = open.at(-1) ?? root;
      const coded = inside === undefined || inside.raw === 'coded';
      parent.children.push({ kind: 'text', parent, start, end, coded });
    },
  });
  walk(html);
  return { html, root };
}

export function nodeText(html: string, node: HtmlNode): string {
  if (node.kind === 'element') return node.children.map((child) => nodeText(html, child)).join('');
  const text = html.slice(node.start, node.end);
  return node.coded && text.includes('&') ? decodeHTML(text) : text;
}

function createElement(
  tag: Tag,
  parent: ElementNode | undefined,
  attributes: ReadonlyMap<string, string>,
  previous: ElementNode | undefined,
  start: number,
): ElementNode {
  return { kind: 'element', tag, parent, children: [], attributes, previous, start, end: start };
}

function readAll(attributes: Attributes): ReadonlyMap<string, string> {
  if (attributes.count === 0) return NONE;
  const all = new Map<string, string>();
  for (let index = 0; index < attributes.count; index += 1) {
    const name = attributes.html
      .slice(attributes.spans[index * 4], attributes.spans[index * 4 + 1])
      .toLowerCase();
    if (!all.has(name)) all.set(name, attributeValue(attributes, index));
  }
  return all;
}
