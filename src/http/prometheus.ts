/** One number from a Prometheus, or from whatever speaks its HTTP API. */
import * as v from 'valibot';
import { Failure } from '../domain/failure.ts';
import { createApiClient } from './api-client.ts';

const sample = v.tuple([v.number(), v.string()]);
const answer = v.object({
  status: v.literal('success'),
  data: v.variant('resultType', [
    v.object({ resultType: v.literal('vector'), result: v.array(v.object({ value: sample })) }),
    v.object({ resultType: v.literal('scalar'), result: sample }),
  ]),
});

export interface PrometheusSource {
  /** Undefined when there is no such series, or its value is not a number. */
  query(expression: string): Promise<number | undefined>;
  close(): Promise<void>;
}

export function createPrometheusSource(url: string): PrometheusSource {
  const api = createApiClient({ url });
  return {
    async query(expression) {
      const path = `/api/v1/query?query=${encodeURIComponent(expression)}`;
      const { status, body } = await api.send({ method: 'GET', path });
      const read = v.safeParse(answer, body);
      if (!read.success)
        throw new Failure('REJECTED', `${url} answered with status ${status} to: ${expression}`);
      const { data } = read.output;
      const values = data.resultType === 'scalar' ? [data.result] : data.result.map(({ value }) => value);
      if (values.length > 1)
        throw new Failure('INVALID', `${values.length} series instead of one: ${expression}`, {
          hint: 'Put sum(…) around it.',
        });
      const value = Number(values[0]?.[1] ?? NaN);
      return Number.isFinite(value) ? value : undefined;
    },
    close: () => api.close(),
  };
}
