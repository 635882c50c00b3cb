/**
 * What HTML knows about its tags, after the standard's rules for building a tree: which stand alone, which hold raw
 * text, which end others that nobody closed, and how far such an end reaches.
 */
const words = (text: string): string[] => text.split(' ');

export const VOID_TAGS: readonly string[] = words(
  'area base basefont bgsound br col command embed frame hr img input isindex keygen link meta param source track wbr',
);

/** No tags inside, only text up to the end tag: `hidden` is no text of the page, `coded` has entities, `plain` none. */
export type RawKind = 'hidden' | 'coded' | 'plain';
export const RAW_TAGS: Readonly<Record<string, RawKind>> = {
  script: 'hidden',
  style: 'hidden',
  iframe: 'hidden',
  noembed: 'hidden',
  noframes: 'hidden',
  title: 'coded',
  textarea: 'coded',
  xmp: 'plain',
  plaintext: 'plain',
};

/** Groups that rules speak of, one bit each. */
export const SPECIAL = 1;
/** Special, but a new `li` may end them. */
export const SOFT = 2;
/** Nothing inside of these ends anything outside. */
export const SCOPE = 4;
export const TABLE = 8;
export const BUTTON = 16;
export const LIST = 32;
/** Bold, italic and the like: people close them in any order. */
export const FORMATTING = 64;
export const HEADING = 128;
/** Begins after an open paragraph, never in it. */
export const ENDS_PARAGRAPH = 256;
export const ROWS = 512; // tbody, thead, tfoot
export const CELL = 1024;
/** The table, and what it is made of. */
export const TABLE_PART = 4096;
/** May stand in the head of a page. */
export const HEAD = 2048;

const GROUPS: readonly (readonly [number, string])[] = [
  [
    SPECIAL,
    'address applet area article aside base basefont bgsound blockquote body br button caption center col colgroup dd details dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe img input keygen li link listing main marquee menu meta nav noembed noframes noscript object ol p param plaintext pre script search section select source style summary table tbody td template textarea tfoot th thead title tr track ul wbr xmp',
  ],
  [SOFT, 'address div p'],
  [SCOPE, 'applet caption html table td th marquee object template'],
  [TABLE, 'html table template'],
  [BUTTON, 'button'],
  [LIST, 'ol ul'],
  [FORMATTING, 'a b big code em font i nobr s small strike strong tt u'],
  [HEADING, 'h1 h2 h3 h4 h5 h6'],
  [
    ENDS_PARAGRAPH,
    'address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp',
  ],
  [ROWS, 'tbody tfoot thead'],
  [CELL, 'td th'],
  [TABLE_PART, 'caption colgroup table tbody td tfoot th thead tr'],
  [HEAD, 'base basefont bgsound head link meta noframes noscript script style template title'],
];

export const FLAGS: ReadonlyMap<string, number> = GROUPS.reduce((flags, [bit, names]) => {
  for (const name of words(names)) flags.set(name, (flags.get(name) ?? 0) | bit);
  return flags;
}, new Map<string, number>());

/** Inside of these `<x/>` is an element without content, and there is no raw text. */
export const FOREIGN_TAGS: readonly string[] = ['svg', 'math'];
/** Inside of these HTML's own rules are back. */
export const INTEGRATION_TAGS: readonly string[] = words(
  'mi mo mn ms mtext annotation-xml foreignobject desc title',
);

/** Named only to be found fast; any other name is a tag too. */
export const COMMON_TAGS: readonly string[] = words(
  'span del ins sub sup kbd samp var abbr cite q time mark picture video audio canvas label legend option optgroup slot progress meter path g',
);

/** Their values are compared without regard to case, unless the selector says otherwise. */
export const CASELESS_ATTRIBUTES: ReadonlySet<string> = new Set(
  words(
    'accept accept-charset align alink axis bgcolor charset checked clear codetype color compact declare defer dir direction disabled enctype face frame hreflang http-equiv lang language link media method multiple nohref noresize noshade nowrap readonly rel rev rules scope scrolling selected shape target text type valign valuetype vlink',
  ),
);
