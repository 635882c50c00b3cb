/** The body of a request, checked; what is wrong with it is told in words. */
import * as v from 'valibot';
import { Failure } from '../domain/failure.ts';

export function readRequest<Schema extends v.GenericSchema>(
  schema: Schema,
  body: unknown,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, body ?? {});
  if (parsed.success) return parsed.output;
  const problems = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'the request'}: ${issue.message}`);
  throw new Failure('INVALID', problems.join('; '));
}
