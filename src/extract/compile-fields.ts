/** Fields as a template writes them, compiled once: what to look for on the page, and how to read what is found. */
import { Failure } from '../domain/failure.ts';
import { createCheck, createConvert, type Convert } from './convert.ts';
import type { FieldSpec } from './field-spec.ts';
import { parseJsonPath, type JsonPath } from './json-path.ts';
import { OUTPUT_DEPTH_MAX } from './limits.ts';
import type { ElementSlot, ListPlan } from './match-plan.ts';
import { refuseUnsafeKey } from './safe-value.ts';
import { parseSelector } from './selector.ts';

export interface FieldReader {
  readonly kind: 'field';
  readonly name: string;
  readonly spec: FieldSpec;
  /** Where its elements are among what was found; undefined: it is not from an element. */
  readonly slot: number | undefined;
  readonly path: JsonPath | undefined;
  readonly convert: Convert;
  readonly check: ((value: unknown) => string | undefined) | undefined;
}

export interface ListReader {
  readonly kind: 'list';
  readonly name: string;
  readonly required: boolean;
  readonly members: readonly Member[];
  /** From elements: its place among the lists that were found. */
  readonly list: number | undefined;
  /** From JSON: where, and in which element if it is not the page itself. */
  readonly path: JsonPath | undefined;
  readonly slot: number | undefined;
}

export type Member = FieldReader | ListReader;

export interface CompiledFields {
  readonly members: readonly Member[];
  readonly slots: readonly ElementSlot[];
  readonly lists: readonly ListPlan[];
}

/** `inJson`: the fields are of a value, not of an element. Throws `INVALID` that names the field. */
export function compileFields(
  fields: Readonly<Record<string, FieldSpec>>,
  inJson = false,
  depth = 0,
): CompiledFields {
  const slots: ElementSlot[] = [];
  const lists: ListPlan[] = [];
  if (depth >= OUTPUT_DEPTH_MAX) throw new Failure('INVALID', `more than ${OUTPUT_DEPTH_MAX} lists in lists`);
  const members = Object.entries(fields).map(([name, spec]): Member => {
    refuseUnsafeKey(name);
    try {
      return spec.each === undefined ? compileField(name, spec) : compileList(name, spec, spec.each);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw new Failure('INVALID', `${name}: ${error.message}`, { hint: error.hint, cause: error });
    }
  });
  return { members, slots, lists };

  function compileField(name: string, spec: FieldSpec): FieldReader {
    const from =
      spec.from ?? (inJson || (spec.json !== undefined && spec.css === undefined) ? 'json' : 'html');
    const isElement = from === 'html' || spec.css !== undefined;
    const path = spec.json === undefined ? undefined : parseJsonPath(spec.json);
    return {
      kind: 'field',
      name,
      spec: { ...spec, from },
      slot: isElement ? addSlot(spec) : undefined,
      path,
      convert: createConvert(spec),
      check: spec.check && createCheck(spec.check),
    };
  }

  function compileList(name: string, spec: FieldSpec, each: string): ListReader {
    const isJson = spec.from === 'json' || inJson;
    const inner = compileFields(spec.fields ?? {}, isJson, depth + 1);
    const base = { kind: 'list', name, required: spec.required === true, members: inner.members } as const;
    if (isJson) {
      const slot = spec.css === undefined ? undefined : addSlot({ css: spec.css });
      return { ...base, list: undefined, path: parseJsonPath(each), slot };
    }
    const list = lists.push({ each: parseSelector(each), slots: inner.slots, lists: inner.lists }) - 1;
    return { ...base, list, path: undefined, slot: undefined };
  }

  function addSlot({ css, attr, all }: FieldSpec): number {
    const selector = css === undefined ? undefined : parseSelector(css);
    return slots.push({ selector, attr: attr?.toLowerCase(), all: all === true }) - 1;
  }
}
