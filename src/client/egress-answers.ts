/** What the proxy-manager answers, read: fields that are not known here pass through, so that a newer one may say more. */
import * as v from 'valibot';

const count = v.number();
const maybe = v.optional(v.nullable(count));
const next = v.optional(v.string());
const closure = v.looseObject({ reason: v.string(), since: count, until: v.optional(count) });

const proxy = v.looseObject({
  id: v.string(),
  endpoint: v.string(),
  state: v.string(),
  reason: v.string(),
  since: count,
  until: v.optional(count),
  weight: count,
  machine: v.optional(v.string()),
  exclusive: v.boolean(),
  tags: v.array(v.string()),
  caps: v.looseObject({ perHour: count, perMinute: count }),
  usedHour: count,
  usedMinute: count,
  usedAt: count,
  leases: count,
  failuresInARow: count,
  score: count,
  latencyMs: count,
  health: v.optional(
    v.looseObject({
      last_check: v.string(),
      response_time: maybe,
      status_code: maybe,
      is_healthy: v.boolean(),
      error: v.optional(v.nullable(v.string())),
    }),
  ),
});
export type ProxyAnswer = Readonly<v.InferOutput<typeof proxy>>;

const hostFields = {
  host: v.string(),
  state: v.string(),
  closure: v.optional(closure),
  limits: v.looseObject({
    delayMs: count,
    egressDelayMs: count,
    jitter: count,
    concurrency: count,
    perHour: count,
    perMinute: count,
    egressCaps: v.looseObject({ perHour: count, perMinute: count }),
  }),
  adaptiveDelayMs: count,
  crawlDelayMs: count,
  usedHour: count,
  usedMinute: count,
  leases: count,
};
const host = v.looseObject({
  ...hostFields,
  egressCount: count,
  egresses: v.array(
    v.looseObject({ egress: v.string(), closure: v.optional(closure), usedHour: count, score: count }),
  ),
});
export type HostAnswer = Readonly<v.InferOutput<typeof host>>;
const hostRow = v.looseObject({ ...hostFields, egresses: count });
export type HostRow = Readonly<v.InferOutput<typeof hostRow>>;

const session = v.looseObject({
  id: v.string(),
  host: v.string(),
  scraper: v.string(),
  egress: v.string(),
  state: v.string(),
  uses: count,
  errors: count,
  createdAt: count,
  usedAt: count,
  validUntil: v.optional(count),
});
export type SessionAnswer = Readonly<v.InferOutput<typeof session>>;

export const egressAnswers = {
  proxy,
  proxies: v.looseObject({ proxies: v.array(proxy), next }),
  added: v.looseObject({
    proxies: v.array(v.looseObject({ id: v.string(), known: v.boolean() })),
    problems: v.array(v.looseObject({ index: count, reason: v.string() })),
  }),
  changed: v.looseObject({ changed: v.array(v.string()), unknown: v.array(v.string()) }),
  host,
  hosts: v.looseObject({ hosts: v.array(hostRow), next }),
  hostState: v.looseObject({ host: v.string(), state: v.string(), until: v.optional(count) }),
  session,
  sessions: v.looseObject({ sessions: v.array(session), next }),
  imported: v.looseObject({ sessions: v.array(v.string()) }),
} as const;
