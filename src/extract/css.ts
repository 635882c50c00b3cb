/** css-select on our tree. Its steps are counted, because some selectors take the square of a page, or worse. */
import { compile, selectAll, selectOne, type Options } from 'css-select';
import { Failure, messageOf } from '../domain/failure.ts';
import { nodeText, type ElementNode, type HtmlDocument, type HtmlNode } from './document.ts';
import { createBudget, TREE_STEPS_MAX, type Budget } from './limits.ts';
import type { ParsedSelector } from './selector.ts';

export interface Selecting {
  /** Inside of the element, in the order of the page. */
  readonly all: (selector: ParsedSelector, element: ElementNode) => readonly ElementNode[];
  readonly first: (selector: ParsedSelector, element: ElementNode) => ElementNode | undefined;
}

type Query = ReturnType<typeof compile<HtmlNode, ElementNode>>;
type CssOptions = Options<HtmlNode, ElementNode>;

/** Throws `INVALID` for a selector that css-select does not know. Compiles once, works on any number of pages. */
export function createSelecting(selectors: readonly ParsedSelector[]): (document: HtmlDocument) => Selecting {
  let html = '';
  let budget: Budget = createBudget(0, 'steps');
  const options: CssOptions = {
    adapter: createAdapter(
      () => html,
      () => budget,
    ),
  };
  const queries = new Map<ParsedSelector, Query>();
  for (const selector of selectors) {
    const query = compileSelector(selector, options);
    if (!selector.isRelative) queries.set(selector, query);
  }
  const queryOf = (selector: ParsedSelector, element: ElementNode): Query =>
    queries.get(selector) ?? compileSelector(selector, { ...options, context: element });

  return (document) => {
    html = document.html;
    budget = createBudget(TREE_STEPS_MAX, 'steps of selectors');
    return {
      all: (selector, element) => selectAll(queryOf(selector, element), element, options),
      first: (selector, element) => selectOne(queryOf(selector, element), element, options) ?? undefined,
    };
  };
}

function compileSelector({ text }: ParsedSelector, options: CssOptions): Query {
  try {
    return compile<HtmlNode, ElementNode>(text, options);
  } catch (cause) {
    throw new Failure('INVALID', `the selector cannot be used: ${messageOf(cause)}`, { cause });
  }
}

function createAdapter(html: () => string, budget: () => Budget): NonNullable<CssOptions['adapter']> {
  const childrenOf = (node: HtmlNode): HtmlNode[] => (node.kind === 'element' ? node.children : []);
  return {
    isTag: (node): node is ElementNode => node.kind === 'element' && node.parent !== undefined,
    getAttributeValue: (element, name) => element.attributes.get(name),
    hasAttrib: (element, name) => element.attributes.has(name),
    getName: (element) => element.tag.name,
    getChildren(node) {
      budget().spend(1);
      return childrenOf(node);
    },
    getParent(element) {
      budget().spend(1);
      return element.parent ?? null;
    },
    getSiblings(node) {
      const siblings = node.parent ? childrenOf(node.parent) : [node];
      budget().spend(siblings.length);
      return siblings;
    },
    prevElementSibling: (node) => (node.kind === 'element' ? (node.previous ?? null) : null),
    getText(node) {
      const text = nodeText(html(), node);
      budget().spend(1 + text.length / 16);
      return text;
    },
    removeSubsets: (nodes) => nodes.filter((node) => !hasAncestorIn(node, new Set(nodes))),
  };
}

function hasAncestorIn(node: HtmlNode, nodes: ReadonlySet<HtmlNode>): boolean {
  for (let parent = node.parent; parent; parent = parent.parent) if (nodes.has(parent)) return true;
  return false;
}
