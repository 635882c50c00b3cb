/** A YAML text as a template, or everything that is wrong with it, by line. */
import { duration, integer, text, yesOrNo } from '../config/parsers.ts';
import {
  dictionary,
  listOf,
  oneOf,
  record,
  scalar,
  textFor,
  type Report,
  type Shape,
} from '../config/shape.ts';
import { parseYamlTree } from '../config/yaml-tree.ts';
import { SELECTIONS, VIAS, WHEN_NONE, type HostLimits } from '../domain/egress.ts';
import { MODES } from '../domain/mode.ts';
import { normalizeUrl } from '../domain/url.ts';
import { parseJsonPath } from '../extract/json-path.ts';
import { PATTERNS_MAX } from '../extract/pattern.ts';
import { compileUrlPattern } from '../policy/url-pattern.ts';
import { count, fieldsOf, itemsShape, selector, word } from './field-shape.ts';
import { ENGINES, type FollowRule, type NextRule, type PageRule, type ParsedTemplate } from './template.ts';

const PAGES_MAX_DEFAULT = 1_000;
const flag = scalar(yesOrNo);
const wait = scalar(duration({ minMs: 0 }));
const url = textFor((given) => normalizeUrl(given));
const urlPatterns = listOf(textFor(compileUrlPattern));

const next = record({
  link: selector,
  attr: scalar(text),
  page: scalar(text),
  first: count,
  offset: scalar(text),
  step: scalar(integer({ min: 1, max: 1_000_000 })),
  cursor: textFor(parseJsonPath),
  param: scalar(text),
  max: scalar(integer({ min: 1, max: 1_000_000 })),
});

const nextShape: Shape<NextRule> = (value, report, path) => {
  if (value.kind === 'scalar') {
    const css = selector(value, report, path);
    return css === undefined ? undefined : { kind: 'link', css, attr: 'href', max: PAGES_MAX_DEFAULT };
  }
  const read = next(value, report, path);
  if (!read) return undefined;
  const max = read.max ?? PAGES_MAX_DEFAULT;
  const given = [read.link, read.page, read.offset, read.cursor].filter((each) => each !== undefined);
  if (given.length !== 1) report(value.at, `${path} needs exactly one of link, page, offset and cursor`);
  if (read.link !== undefined) return { kind: 'link', css: read.link, attr: read.attr ?? 'href', max };
  if (read.page !== undefined) return { kind: 'page', param: read.page, first: read.first ?? 1, max };
  if (read.cursor !== undefined)
    return { kind: 'cursor', json: read.cursor, param: read.param ?? 'cursor', max };
  if (read.offset === undefined) return undefined;
  if (read.step === undefined) report(value.at, `${path} needs step: how far one page is from the next`);
  return { kind: 'offset', param: read.offset, step: read.step ?? 1, max };
};

const followMembers = record({
  links: selector,
  sitemap: flag,
  include: urlPatterns,
  exclude: urlPatterns,
  depth: count,
  within: oneOf(['host', 'site', 'anywhere']),
  pagesPerRun: count,
  pagesPerHost: count,
  dropTracking: flag,
  scraper: word,
  priority: scalar(integer({ min: 0, max: 9 })),
});

const follow: Shape<FollowRule> = (value, report, path) => {
  const read = followMembers(value, report, path);
  if (read?.sitemap === true && read.links !== undefined)
    report(value.at, `${path} has both links and sitemap; a site map has no links to select`);
  return read;
};

const pageMembers = {
  fields: fieldsOf(false),
  items: itemsShape,
  kind: word,
  next: nextShape,
  follow: listOf(follow, 20),
};

const page = record({ match: urlPatterns, ...pageMembers });

const pageShape: Shape<PageRule> = (value, report, path) => {
  const read = page(value, report, path);
  return read && checkRule(toRule(read), path, (problem) => report(value.at, problem));
};

function checkRule(rule: PageRule, where: string, report: (problem: string) => void): PageRule {
  if (rule.fields && rule.items)
    report(`${where} has both fields and items; a page yields one item or a list`);
  if (!rule.fields && !rule.items && rule.follow.length === 0)
    report(`${where} needs fields, items or follow`);
  if ((rule.next?.kind === 'page' || rule.next?.kind === 'offset') && !rule.items)
    report(`${where} counts pages until one has no items, so it needs items`);
  return rule;
}

const limits = record({
  delay: wait,
  egressDelay: wait,
  jitter: scalar(integer({ min: 0, max: 1_000 })),
  concurrency: count,
  perHour: count,
  perMinute: count,
});

const file = record(
  {
    name: word,
    mode: oneOf(MODES),
    engine: oneOf(ENGINES),
    waitFor: scalar(text),
    start: listOf(url, 10_000),
    timeout: scalar(duration({ minMs: 1_000 })),
    retries: scalar(integer({ min: 0, max: 100 })),
    robots: flag,
    headers: dictionary(scalar(text), {
      isKey: (name) => /^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name),
      allowed: 'the name of a header',
    }),
    limits,
    egress: record({
      via: oneOf(VIAS),
      whenNone: oneOf(WHEN_NONE),
      select: oneOf(SELECTIONS),
      exclusive: flag,
      session: flag,
    }),
    pages: listOf(pageShape, 50),
    ...pageMembers,
  },
  { required: ['name'] },
);

export function parseTemplate(source: string, path: string): ParsedTemplate {
  const tree = parseYamlTree(source, path);
  if (!tree.ok) return tree;
  const problems = new Set<string>();
  const report: Report = ({ line, column }, problem) =>
    void problems.add(`${path}:${line}:${column}: ${problem}`);
  const read = file(tree.root, report, '');
  const top = tree.root.at;
  if (!read) return { ok: false, problems: [...problems] };
  const own = {
    fields: read.fields,
    items: read.items,
    kind: read.kind,
    next: read.next,
    follow: read.follow,
  };
  const hasOwn = Object.values(own).some((each) => each !== undefined);
  if (hasOwn && read.pages)
    report(top, 'fields, items, next and follow belong into the pages, since there are pages');
  const pages = read.pages ?? [
    checkRule(toRule({ match: undefined, ...own }), 'the template', (problem) => report(top, problem)),
  ];
  if (read.waitFor !== undefined && read.engine !== 'browser')
    report(top, 'waitFor is what a browser waits for; it needs engine: browser');
  if ((source.match(/\bre2\b|\bmatches\b/g)?.length ?? 0) > PATTERNS_MAX)
    report(top, `the template has more than ${PATTERNS_MAX} patterns`);
  if (problems.size > 0) return { ok: false, problems: [...problems] };
  return {
    ok: true,
    template: {
      file: path,
      name: read.name ?? '',
      mode: read.mode ?? 'single',
      engine: read.engine ?? 'http',
      waitFor: read.waitFor,
      start: read.start ?? [],
      timeoutMs: read.timeout,
      retries: read.retries,
      robots: read.robots,
      headers: read.headers ?? {},
      limits: read.limits && toLimits(read.limits),
      egress: read.egress,
      pages,
    },
  };
}

type PageRead = { readonly [K in keyof PageRule]?: PageRule[K] | undefined };

function toRule({ match, fields, items, kind, next: nextRule, follow: rules }: PageRead): PageRule {
  return { match, fields, items, kind, next: nextRule, follow: rules ?? [] };
}

function toLimits(read: NonNullable<ReturnType<typeof limits>>): Partial<HostLimits> {
  const { delay, egressDelay, jitter, ...rest } = read;
  return {
    ...rest,
    ...(delay === undefined ? {} : { delayMs: delay }),
    ...(egressDelay === undefined ? {} : { egressDelayMs: egressDelay }),
    ...(jitter === undefined ? {} : { jitter: jitter / 100 }),
  };
}
