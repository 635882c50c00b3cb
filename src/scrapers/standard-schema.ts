/**
 * The interface that schema libraries share (https://standardschema.dev): valibot, zod, arktype and others have it, so
 * a scraper may use any of them, and this package depends on none.
 */
import { Failure } from '../domain/failure.ts';

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** Only for the compiler: what goes in and what comes out. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type Checked<Output> =
  { readonly ok: true; readonly value: Output } | { readonly ok: false; readonly problem: string };

const ISSUES_MAX = 5;
const PROBLEM_MAX_CHARACTERS = 500;

export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard = (value as { readonly '~standard'?: unknown })['~standard'];
  return typeof (standard as { readonly validate?: unknown } | undefined)?.validate === 'function';
}

/** At once where the schema answers at once, which nearly all do. `name`: of the whole, in front of its fields. */
export function checkValue<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
  name: string,
): Checked<Output> | Promise<Checked<Output>> {
  const result = schema['~standard'].validate(value);
  return result instanceof Promise ? result.then((each) => read(each, name)) : read(result, name);
}

/** What a task was given, as the scraper's schema reads it: with its defaults. Throws `INVALID` that names the field. */
export async function readInput<Output>(
  schema: StandardSchema<unknown, Output>,
  input: unknown,
): Promise<Output> {
  const checked = await checkValue(schema, input, 'input');
  if (checked.ok) return checked.value;
  throw new Failure('INVALID', checked.problem);
}

function read<Output>(result: SchemaResult<Output>, name: string): Checked<Output> {
  if (result.issues === undefined) return { ok: true, value: result.value };
  const problems = result.issues.slice(0, ISSUES_MAX).map(({ message, path }) => {
    const keys = (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part));
    return `${[name, ...keys].join('.')}: ${message}`;
  });
  return { ok: false, problem: problems.join('; ').slice(0, PROBLEM_MAX_CHARACTERS) };
}
