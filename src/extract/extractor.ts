/** Extraction, compiled once and run on many pages. Pure: a page in, values out. */
import { compileFields } from './compile-fields.ts';
import { resolveUrl } from './convert.ts';
import type { FieldSpec, ListSpec, SourcePage } from './field-spec.ts';
import { createBudget, VALUES_MAX_CHARACTERS } from './limits.ts';
import { allSelectors, type FoundItem, type MatchPlan, type Matcher } from './match-plan.ts';
import { createStreamMatcher } from './match-stream.ts';
import { createTreeMatcher } from './match-tree.ts';
import { readItem, readList, type Extracted, type Reading } from './read-found.ts';
import { refuseUnsafeKey } from './safe-value.ts';
import { createStreamProgram } from './stream-program.ts';

export interface ExtractSpec {
  /** Of the page as a whole. */
  readonly fields: Readonly<Record<string, FieldSpec>>;
  readonly items?: ListSpec | undefined;
  /** What is wanted of the page beside its items: where it leads. */
  readonly links?: Readonly<Record<string, FieldSpec>> | undefined;
}

export interface Extraction {
  readonly page: Extracted;
  readonly items: readonly Extracted[];
  readonly links: Extracted;
  /** What the page's links are relative to. */
  readonly base: string;
}

export interface Extractor {
  /** How HTML is read: in one pass, on a tree, or not at all. */
  readonly way: 'stream' | 'tree' | 'none';
  extract(page: SourcePage): Extraction;
}

/** `way`: for tests and benches; by default one pass is taken wherever the selectors allow it. */
export function compileExtractor(spec: ExtractSpec, way?: 'tree'): Extractor {
  const base: FieldSpec = { css: 'base[href]', attr: 'href' };
  const root = compileFields({
    ...prefixed('page.', spec.fields),
    ...prefixed('link.', spec.links ?? {}),
    ...(spec.items ? { items: spec.items } : {}),
  });
  const names = (prefix: string) =>
    root.members
      .filter(({ name }) => name.startsWith(prefix))
      .map((member) => ({ ...member, name: member.name.slice(prefix.length) }));
  const pageMembers = names('page.');
  const linkMembers = names('link.');
  const items = root.members.find((member) => member.name === 'items');
  const wantsHtml = root.slots.length + root.lists.length > 0;
  const baseSlot = root.slots.length;
  const plan: MatchPlan = {
    slots: [...root.slots, ...compileFields({ base }).slots],
    lists: root.lists,
  };
  const { matcher, way: taken } = wantsHtml ? chooseMatcher(plan, way) : NO_HTML;

  return {
    way: taken,
    extract(page) {
      const html = wantsHtml ? page.text() : '';
      const found = matcher(html);
      const href = found.values[baseSlot];
      const reading: Reading = {
        page,
        html,
        base: (typeof href === 'string' ? resolveUrl(href, page.url) : undefined) ?? page.url,
        budget: createBudget(VALUES_MAX_CHARACTERS, 'characters in all values'),
        parsed: new Map(),
      };
      return {
        page: readItem(pageMembers, found, reading),
        items: items?.kind === 'list' ? readList(items, found, reading) : [],
        links: readItem(linkMembers, found, reading),
        base: reading.base,
      };
    },
  };
}

const NO_HTML: { readonly matcher: Matcher; readonly way: 'none' } = {
  way: 'none',
  matcher: (): FoundItem => ({ values: [], lists: [] }),
};

function chooseMatcher(
  plan: MatchPlan,
  way: 'tree' | undefined,
): { matcher: Matcher; way: 'stream' | 'tree' } {
  const canStream = way !== 'tree' && allSelectors(plan).every(({ streams }) => streams !== undefined);
  const program = canStream ? createStreamProgram(plan) : undefined;
  return program
    ? { matcher: createStreamMatcher(program), way: 'stream' }
    : { matcher: createTreeMatcher(plan), way: 'tree' };
}

function prefixed<T>(prefix: string, fields: Readonly<Record<string, T>>): Record<string, T> {
  for (const name of Object.keys(fields)) refuseUnsafeKey(name);
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [`${prefix}${name}`, value]));
}
