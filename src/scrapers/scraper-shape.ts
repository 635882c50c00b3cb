/** What a scraper must look like, checked when it is loaded: a word that is spelled wrong would be a limit that nobody keeps. */
import * as v from 'valibot';
import { SELECTIONS, VIAS, WHEN_NONE } from '../domain/egress.ts';
import { Failure } from '../domain/failure.ts';
import { MODES } from '../domain/mode.ts';
import { pickNearest } from '../domain/nearest.ts';
import { compileRules } from '../policy/block-rules.ts';
import { createFollowPolicy } from '../policy/follow-links.ts';
import { TOKEN } from '../wire/names.ts';
import type { Scraper } from './scraper.ts';
import { isStandardSchema, type StandardSchema } from './standard-schema.ts';

const flag = (name: string) => v.optional(v.boolean(`${name} must be true or false`));
const oneOf = <const T extends readonly string[]>(name: string, options: T) =>
  v.optional(v.picklist(options, `${name} must be one of ${options.join(', ')}`));
const amount = (name: string) =>
  v.optional(v.pipe(v.number(`${name} must be a number`), v.minValue(0, `${name} must not be negative`)));

/** These words and no others. */
const part = <Words extends v.ObjectEntries>(name: string, words: Words) =>
  v.strictObject(words, ({ expected, path }) =>
    expected === 'never' ? unknownWord(name, String(path?.[0].key), words) : `${name} must be an object`,
  );

function unknownWord(where: string, word: string, words: v.ObjectEntries): string {
  const nearest = pickNearest(word, Object.keys(words));
  return `${where} has no ${word}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}

const egress = part('egress', {
  via: oneOf('egress.via', VIAS),
  whenNone: oneOf('egress.whenNone', WHEN_NONE),
  select: oneOf('egress.select', SELECTIONS),
  exclusive: flag('egress.exclusive'),
  session: flag('egress.session'),
  stickTo: v.optional(v.function('egress.stickTo must be a function')),
});
const caps = { perHour: amount('limits.perHour'), perMinute: amount('limits.perMinute') };
const limits = part('limits', {
  ...caps,
  delayMs: amount('limits.delayMs'),
  egressDelayMs: amount('limits.egressDelayMs'),
  jitter: amount('limits.jitter'),
  concurrency: amount('limits.concurrency'),
  egressCaps: v.optional(
    v.strictObject(
      {
        perHour: v.number('limits.egressCaps needs perHour'),
        perMinute: v.number('limits.egressCaps needs perMinute'),
      },
      'limits.egressCaps must be { perHour, perMinute }',
    ),
  ),
});

const texts = (name: string, what: string) =>
  v.optional(v.array(v.string(`${name} must be a list of ${what}`), `${name} must be a list of ${what}`));
const crawl = part('crawl', {
  include: texts('crawl.include', 'patterns'),
  exclude: texts('crawl.exclude', 'patterns'),
  depth: amount('crawl.depth'),
  within: oneOf('crawl.within', ['host', 'site', 'anywhere']),
  pagesPerRun: amount('crawl.pagesPerRun'),
  pagesPerHost: amount('crawl.pagesPerHost'),
  dropTracking: flag('crawl.dropTracking'),
});
const schema = (name: string) =>
  v.optional(
    v.custom<StandardSchema>(isStandardSchema, `${name} must be a schema: of valibot, zod, arktype or alike`),
  );

const words = {
  name: v.pipe(
    v.string('a scraper needs a name'),
    v.regex(TOKEN, 'its name must be 1 to 64 letters, digits, - and _'),
  ),
  mode: oneOf('mode', MODES),
  timeout: v.optional(v.never('timeout is for defineScraper({ … }); a plain object says timeoutMs')),
  timeoutMs: v.optional(
    v.pipe(v.number('timeoutMs must be a number'), v.minValue(1, 'timeoutMs must be positive')),
  ),
  retries: v.optional(
    v.pipe(
      v.number('retries must be a number'),
      v.integer('retries must be whole'),
      v.minValue(0, 'retries must not be negative'),
    ),
  ),
  egress: v.optional(egress),
  limits: v.optional(limits),
  robots: flag('robots'),
  engine: v.optional(v.picklist(['http', 'browser'], 'engine must be http or browser')),
  start: texts('start', 'addresses'),
  input: schema('input'),
  item: schema('item'),
  crawl: v.optional(crawl),
  setup: v.optional(v.function('setup must be a function')),
  teardown: v.optional(v.function('teardown must be a function')),
  blocks: v.optional(v.array(v.looseObject({}), 'blocks must be a list of rules')),
  classify: v.optional(v.function('classify must be a function')),
  validate: v.optional(v.function('validate must be a function')),
  isSessionValid: v.optional(v.function('isSessionValid must be a function')),
  refreshSession: v.optional(v.function('refreshSession must be a function')),
  run: v.function('a scraper needs a function run(context)'),
} satisfies Record<keyof Scraper | 'timeout', v.GenericSchema>;
const shape = v.object(words, 'it exports no scraper: export one as default, or under the name `scraper`');

/** The object itself, not what was read from it: its run may use `this`. Throws `INVALID` with everything that is wrong. */
export function parseScraper(candidate: unknown): Scraper {
  const parsed = v.safeParse(shape, candidate);
  const problems = [...(parsed.issues ?? []).map(({ message }) => message), ...unknownWordsOf(candidate)];
  if (!parsed.success || problems.length > 0) throw new Failure('INVALID', problems.join('; '));
  // A pattern that cannot be read is told now, not by the first page.
  compileRules(parsed.output.blocks ?? []);
  if (parsed.output.crawl) createFollowPolicy(parsed.output.crawl);
  return candidate as Scraper;
}

/** What an object of a class keeps for itself is no word of it; its class says to the compiler what it is. */
function unknownWordsOf(candidate: unknown): readonly string[] {
  if (typeof candidate !== 'object' || candidate === null) return [];
  if (![Object.prototype, null].includes(Object.getPrototypeOf(candidate) as object | null)) return [];
  const unknown = Object.keys(candidate).filter((word) => !Object.hasOwn(words, word));
  return unknown.map((word) => unknownWord('a scraper', word, words));
}
