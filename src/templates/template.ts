/** A template after it was checked: everything in it can be used as it is. */
import type { HostLimits, Selection, Via, WhenNone } from '../domain/egress.ts';
import type { Mode } from '../domain/mode.ts';
import type { FieldSpec, ListSpec } from '../extract/field-spec.ts';
import type { FollowRules } from '../policy/follow-links.ts';
import type { Engine } from '../scrapers/page.ts';

export const ENGINES = ['http', 'browser'] as const satisfies readonly Engine[];

/** How one page of a list leads to the next. `max` counts pages from the first. */
export type NextRule = { readonly max: number } & (
  | { readonly kind: 'link'; readonly css: string; readonly attr: string }
  | { readonly kind: 'page'; readonly param: string; readonly first: number }
  | { readonly kind: 'offset'; readonly param: string; readonly step: number }
  | { readonly kind: 'cursor'; readonly json: string; readonly param: string }
);

export interface FollowRule extends FollowRules {
  /** Of the links; `a[href]` if not said. */
  readonly links?: string | undefined;
  /** The page is a site map: what it lists is followed instead of links, and further site maps that it names. */
  readonly sitemap?: boolean | undefined;
  /** Who gets them; the template itself if not said. */
  readonly scraper?: string | undefined;
  readonly priority?: number | undefined;
}

/** One kind of page. */
export interface PageRule {
  /** Its addresses; undefined: all. The first rule that fits is taken. */
  readonly match: readonly string[] | undefined;
  /** One item per page. */
  readonly fields: Readonly<Record<string, FieldSpec>> | undefined;
  /** Many items per page. */
  readonly items: ListSpec | undefined;
  /** What the items are called in results; undefined: nothing but what they are. */
  readonly kind: string | undefined;
  readonly next: NextRule | undefined;
  readonly follow: readonly FollowRule[];
}

export interface Template {
  readonly file: string;
  readonly name: string;
  readonly mode: Mode;
  readonly engine: Engine;
  /** Of a browser: for what it waits on each page; undefined: until it is loaded. */
  readonly waitFor: string | undefined;
  /** Where a run starts that is given no addresses. */
  readonly start: readonly string[];
  readonly timeoutMs: number | undefined;
  readonly retries: number | undefined;
  readonly robots: boolean | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly limits: Partial<HostLimits> | undefined;
  readonly egress:
    | {
        readonly via?: Via | undefined;
        readonly whenNone?: WhenNone | undefined;
        readonly select?: Selection | undefined;
        readonly exclusive?: boolean | undefined;
        readonly session?: boolean | undefined;
      }
    | undefined;
  readonly pages: readonly PageRule[];
}

export type ParsedTemplate =
  | { readonly ok: true; readonly template: Template }
  | { readonly ok: false; readonly problems: readonly string[] };
