/** What a template says about its fields, once it is known to be well formed. */
export const FIELD_TYPES = [
  'text',
  'html',
  'number',
  'integer',
  'price',
  'date',
  'url',
  'bool',
  'json',
] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

export const FIELD_SOURCES = ['html', 'json', 'url', 'header'] as const;
export type FieldSource = (typeof FIELD_SOURCES)[number];

export interface FieldCheck {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  /** RE2, found anywhere in the value. */
  readonly matches?: string | undefined;
  readonly oneOf?: readonly (string | number | boolean)[] | undefined;
}

export interface FieldSpec {
  readonly from?: FieldSource | undefined;
  readonly css?: string | undefined;
  readonly attr?: string | undefined;
  /** A JSON path; with `css`, in the text of that element. */
  readonly json?: string | undefined;
  readonly header?: string | undefined;
  readonly re2?: string | undefined;
  readonly group?: number | string | undefined;
  readonly type?: FieldType | undefined;
  readonly format?: string | undefined; // of dates
  readonly zone?: string | undefined; // of dates
  readonly currency?: string | undefined; // of prices
  readonly all?: boolean | undefined;
  readonly required?: boolean | undefined;
  readonly default?: unknown;
  readonly check?: FieldCheck | undefined;
  /** A list of objects: the elements, or with `from: json` the values, that it is made of. */
  readonly each?: string | undefined;
  readonly fields?: Readonly<Record<string, FieldSpec>> | undefined;
}

export interface ListSpec {
  readonly from?: 'html' | 'json' | undefined;
  readonly css?: string | undefined;
  readonly each: string;
  readonly fields: Readonly<Record<string, FieldSpec>>;
}

/** A page as far as extraction is concerned. */
export interface SourcePage {
  /** After redirects. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: () => string;
  readonly json: () => unknown;
}
