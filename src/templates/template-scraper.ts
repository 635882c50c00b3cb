/** A template as a scraper: the rest of the system does not know the difference. */
import type { Mode } from '../domain/mode.ts';
import { Failure } from '../domain/failure.ts';
import type { Extracted } from '../extract/read-found.ts';
import type { EnqueueRequest } from '../scrapers/enqueue.ts';
import type { Page } from '../scrapers/page.ts';
import { readSitemap } from '../scrapers/parse-page.ts';
import type { Scraper, ScraperContext } from '../scrapers/scraper.ts';
import type { StandardSchema } from '../scrapers/standard-schema.ts';
import { compileTemplate, type PageResult } from './compile-template.ts';
import { parseTemplate } from './parse-template.ts';
import type { Template } from './template.ts';

export interface TemplateScraper extends Scraper {
  readonly mode: Mode;
  /** Where a run starts that is given no addresses. */
  readonly start: readonly string[];
}

/** What a task leaves beside its items. */
export interface TemplateSummary {
  readonly followed: number;
  readonly refused: PageResult['refused'];
}

/** Throws `INVALID` with every problem of the file, each with its line. */
export function loadTemplate(text: string, file: string): TemplateScraper {
  const parsed = parseTemplate(text, file);
  if (parsed.ok) return createTemplateScraper(parsed.template);
  throw new Failure(
    'INVALID',
    ['The template has problems:', ...parsed.problems.map((line) => `  ${line}`)].join('\n'),
    { hint: 'config/scrapers/catalogue.yaml shows how a template is written.' },
  );
}

export function createTemplateScraper(template: Template): TemplateScraper {
  const { name, mode, engine, start, timeoutMs, retries, robots, limits, egress } = template;
  const compiled = compileTemplate(template);
  const found = createFoundItems();
  return {
    name,
    mode,
    engine,
    start,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(retries === undefined ? {} : { retries }),
    ...(robots === undefined ? {} : { robots }),
    ...(limits === undefined ? {} : { limits }),
    ...(egress === undefined ? {} : { egress: defined(egress) }),
    item: found.schema,
    async run(context): Promise<TemplateSummary> {
      const page = await fetchPage(template, context);
      const number = pageNumber(context.input['page']);
      const result = compiled.extract({
        url: page.url,
        headers: page.headers,
        text: page.text,
        json: page.json,
        sitemap: () => readSitemap(page, () => context.log),
        depth: context.task.depth ?? 0,
        page: number,
      });
      if (result.rule === -1) throw noRule(name, page.url);
      for (const item of result.items) {
        const value = found.note(item);
        if (result.kind === undefined) context.emit(value);
        else context.emit(result.kind, value);
      }
      return { followed: enqueueAll(context, result, number), refused: result.refused };
    },
  };
}

/**
 * The fields of a template are the schema of its items. What is wrong with one is known when it is read from the page;
 * as a schema says it, bad items are kept apart and counted in the one place where those of handlers are.
 */
function createFoundItems(): { readonly schema: StandardSchema; note(item: Extracted): Extracted['value'] } {
  const problemsOf = new WeakMap<object, readonly string[]>();
  return {
    note({ value, problems }) {
      if (problems.length > 0) problemsOf.set(value, problems);
      return value;
    },
    schema: {
      '~standard': {
        version: 1,
        vendor: 'trawl',
        validate(value) {
          const problems = problemsOf.get(value as object);
          return problems ? { issues: problems.map((message) => ({ message })) } : { value };
        },
      },
    },
  };
}

async function fetchPage({ headers, waitFor }: Template, context: ScraperContext): Promise<Page> {
  if (context.url === undefined)
    throw new Failure('INVALID', 'a template needs a URL, and the task has none', {
      hint: 'Submit the address of a page.',
    });
  return context.fetch(context.url, { headers, ...(waitFor === undefined ? {} : { waitFor }) });
}

function enqueueAll(context: ScraperContext, { next, links }: PageResult, number: number): number {
  const requests: EnqueueRequest[] = links.map(({ url, raw, scraper, priority, budget }) => ({
    url,
    ...(raw === undefined ? {} : { input: { rawUrl: raw } }),
    ...(scraper === undefined ? {} : { scraper }),
    ...(priority === undefined ? {} : { priority }),
    ...(budget === undefined ? {} : { budget }),
  }));
  if (next !== undefined) requests.push({ url: next, input: inputOfNext(context, number), continues: true });
  if (requests.length === 0) return 0;
  return context.enqueue(requests).enqueued;
}

/** That of this page, but for what its own address was before it was cleaned. */
function inputOfNext({ input }: ScraperContext, number: number): Readonly<Record<string, unknown>> {
  const kept = Object.entries(input).filter(([name]) => name !== 'rawUrl');
  return { ...Object.fromEntries(kept), page: number + 1 };
}

/** Of a list that goes over several pages; the first unless an earlier page said otherwise. */
function pageNumber(given: unknown): number {
  return typeof given === 'number' && Number.isSafeInteger(given) && given > 0 ? given : 1;
}

function noRule(name: string, url: string): Failure {
  return new Failure('INVALID', `the template ${name} has no page that matches ${url}`, {
    hint: 'Add a page without match for all others, or do not follow such links.',
  });
}

function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
