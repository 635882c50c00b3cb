/**
 * Sends batches to somebody else's server: `POST` of JSON, signed, with a key that a receiver can know a batch by. The
 * same batch has the same key and the same body, however often it is sent.
 */
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { asFailure, Failure } from '../domain/failure.ts';
import type { WebhookSink } from '../domain/sink.ts';
import type { HttpAnswer, HttpEngine } from '../http/engine.ts';
import { parseRetryAfter } from '../policy/retry-after.ts';
import { createAsideFile } from './put-aside.ts';
import { renderRow, type SinkRow } from './row.ts';
import type { SinkTarget, WriteContext } from './target.ts';

const BATCH_MAX_BYTES = 1024 * 1024;
const ANSWER_MAX_BYTES = 1024 * 1024;
const TIMEOUTS = { connectMs: 10_000, headersMs: 30_000, bodyMs: 30_000, totalMs: 60_000 };
/** The receiver understood, and does not want it. Any other trouble is the receiver's, or ours, and passes. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);

export interface WebhookParts {
  readonly engine: () => HttpEngine;
  readonly now?: () => number;
}

export function createWebhookTarget(
  spec: WebhookSink & { readonly name: string },
  { engine: createEngine, now = Date.now }: WebhookParts,
): SinkTarget {
  const { name, secret } = spec;
  const asidePath = join(spec.path, `${name}.rejected.ndjson`);
  const aside = createAsideFile(asidePath);
  let engine: HttpEngine | undefined;
  let life: string | undefined;

  return {
    limits: { rows: spec.batch, bytes: BATCH_MAX_BYTES },
    remembers: 'batches',
    async open(beginning) {
      await close();
      life = beginning.life.sink;
      engine = createEngine();
      return undefined;
    },
    write,
    putAside: (rejected) => aside.add(rejected, life),
    commit: () => Promise.resolve(),
    startOver: (_, replay) => aside.moveTo(join(spec.path, `${name}.rejected.before-${replay}.ndjson`)),
    close,
  };

  async function close(): Promise<void> {
    const closing = engine;
    engine = undefined;
    await closing?.close();
  }

  async function write(rows: readonly SinkRow[], { signal, ...context }: WriteContext): Promise<void> {
    if (!engine) throw new Failure('INTERNAL', 'the webhook is not open');
    const url = new URL(spec.url.reveal());
    const body = `{"sink":${JSON.stringify(name)},"items":[${rows.map(renderRow).join(',')}]}`;
    const timestamp = String(Math.floor(now() / 1_000));
    const headers: [string, string][] = [
      ['content-type', 'application/json'],
      ['user-agent', 'trawl'],
      ['idempotency-key', keyOf(name, rows, context)],
      ['trawl-timestamp', timestamp],
    ];
    if (secret) headers.push(['trawl-signature', sign(secret.reveal(), timestamp, body)]);
    judge(await send(engine, { url, headers, body, signal }), url);
  }

  function judge(answer: HttpAnswer, { host }: URL): void {
    const { status } = answer;
    if (status >= 200 && status < 300) return;
    if (REFUSALS.has(status))
      throw new Failure(
        'REJECTED',
        `${host} refuses it with ${status}: ${answer.body.toString('utf8', 0, 200)}`,
      );
    const waitMs = parseRetryAfter(answer.headers['retry-after'], now());
    throw new Failure('UNAVAILABLE', `${host} answered with ${status}`, {
      ...(waitMs !== undefined && { retryAtMs: now() + waitMs }),
    });
  }
}

/** What happened on the way is never the fault of the items, so it must not have the code of a refusal. */
async function send(
  engine: HttpEngine,
  {
    url,
    headers,
    body,
    signal,
  }: { url: URL; headers: [string, string][]; body: string; signal: AbortSignal },
): Promise<HttpAnswer> {
  try {
    const common = { timeouts: TIMEOUTS, maxBytes: ANSWER_MAX_BYTES, http2: false, egress: { id: 'sink' } };
    return await engine.send({ url, method: 'POST', headers, body, ...common }, signal);
  } catch (error) {
    const { message, code } = asFailure(error);
    throw new Failure(code === 'CANCELLED' ? code : 'UNAVAILABLE', message, { cause: error });
  }
}

/** `v1=` and the HMAC-SHA256 of `<timestamp>.<body>`, in hex. */
export function sign(secret: string, timestamp: string, body: string): string {
  return `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}

/** From the first to the last row; in another life, and after a replay, all are new. */
export function keyOf(
  name: string,
  rows: readonly SinkRow[],
  { life, replayed }: Pick<WriteContext, 'life' | 'replayed'>,
): string {
  const [first, last] = [rows.at(0), rows.at(-1)];
  const range = [first, last].map((row) => `${row?.seq ?? 0}.${row?.n ?? 0}`).join('-');
  return [name, life, replayed, range].filter((part) => part !== undefined).join(':');
}
