/** Proxies, for people: added, listed, frozen, reset, removed. No answer holds a user or a password. */
import * as v from 'valibot';
import { asFailure, Failure } from '../domain/failure.ts';
import { describeProxyAddress, parseProxyAddress, proxyIdOf } from '../domain/proxy-address.ts';
import { spreadPorts } from '../domain/proxy-range.ts';
import { PROXY_STATES, type EgressCaps } from '../domain/egress.ts';
import { Secret } from '../domain/secret.ts';
import type { Verb } from '../nats/mailbox.ts';
import type { EgressBook } from '../policy/egress/book.ts';
import type { ProxyRecord } from '../policy/egress/records.ts';
import type { ProxyView } from '../policy/egress/views.ts';
import { TOKEN } from '../wire/names.ts';
import { page, pageRequest } from './page.ts';
import { readRequest } from './read-request.ts';

/** The book of the egress, as services reach it. */
export interface EgressAccess {
  readonly change: <T>(apply: (book: EgressBook, now: number) => T) => Promise<T>;
  readonly look: <T>(read: (book: EgressBook, now: number) => T) => T;
}

/** More would not fit into one message. */
const ADD_MAX = 1_000;
const NAMES_MAX = 10_000;
/** What is decided and sealed in one go: the lock of the leader is renewed on the same thread, in between. */
const AT_ONCE = 250;

const id = v.pipe(v.string(), v.regex(TOKEN, 'must be 1 to 64 letters, digits, _ or -'));
const amount = v.pipe(v.number(), v.integer(), v.minValue(0));
const tag = v.pipe(v.string(), v.regex(TOKEN, 'must be 1 to 64 letters, digits, _ or -'));
const details = {
  weight: v.optional(v.pipe(v.number(), v.minValue(0.001), v.maxValue(1_000))),
  perHour: v.optional(amount),
  perMinute: v.optional(amount),
  exclusive: v.optional(v.boolean()),
  machine: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(255))),
  control: v.optional(v.string()),
  tags: v.optional(v.pipe(v.array(tag), v.maxLength(32))),
};
const proxy = v.object({ url: v.string(), id: v.optional(id), ...details });
const addRequest = v.union([
  v.object({ proxies: v.pipe(v.array(proxy), v.minLength(1), v.maxLength(ADD_MAX)) }),
  proxy,
]);
const listRequest = v.object({
  ...pageRequest.entries,
  state: v.optional(v.picklist(PROXY_STATES)),
  tag: v.optional(tag),
});
const ids = v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(NAMES_MAX));
const idsRequest = v.union([
  v.object({ ids }),
  v.pipe(
    v.object({ id: v.string() }),
    v.transform((one) => ({ ids: [one.id] })),
  ),
]);
const freezeRequest = v.intersect([idsRequest, v.object({ reason: v.optional(v.string(), 'by hand') })]);

type Wanted = v.InferOutput<typeof proxy>;

export function createProxyServices(
  { change, look }: EgressAccess,
  /** Of a proxy that has none of its own: where somebody sets one of them, the other stays. */
  usualCaps: EgressCaps,
): Record<string, Verb> {
  return {
    'proxies.add': async (body) => {
      const request = readRequest(addRequest, body);
      const wanted = 'proxies' in request ? request.proxies : [request];
      const problems: { index: number; reason: string }[] = [];
      const records = wanted.flatMap((each, index) => {
        try {
          return spreadPorts(each).map((one) => recordOf(one, usualCaps));
        } catch (error) {
          problems.push({ index, reason: asFailure(error).message });
          return [];
        }
      });
      const [first] = problems;
      if (records.length === 0 && first) throw new Failure('INVALID', first.reason);
      const proxies: { id: string; known: boolean }[] = [];
      for (const some of slices(records))
        proxies.push(...(await change((book, now) => some.map((record) => add(book, record, now)))));
      return { proxies, problems };
    },
    'proxies.ls': (body) => {
      const { state, tag: wantedTag, ...where } = readRequest(listRequest, body);
      const found = look((book, now) =>
        page(book.proxies(now), where, ({ id: own }) => own)
          .filter((view) => state === undefined || view.state === state)
          .filter((view) => wantedTag === undefined || book.proxyRecord(view.id)?.tags?.includes(wantedTag))
          .map((view) => describe(view, book.proxyRecord(view.id))),
      );
      return { proxies: found.items, ...found.rest };
    },
    'proxies.show': (body) => {
      const { id: wanted } = readRequest(v.object({ id: v.string() }), body);
      const found = look((book, now) => {
        const view = book.proxy(wanted, now);
        return view && describe(view, book.proxyRecord(wanted));
      });
      if (!found) throw unknown([wanted]);
      return found;
    },
    'proxies.freeze': async (body) => {
      const request = readRequest(freezeRequest, body);
      return forEach(request.ids, (book, each, now) => book.freeze(each, request.reason, now));
    },
    'proxies.reset': async (body) =>
      forEach(readRequest(idsRequest, body).ids, (book, each, now) => book.reset(each, now)),
    'proxies.rm': async (body) =>
      forEach(readRequest(idsRequest, body).ids, (book, each, now) => book.removeProxy(each, now)),
  };

  async function forEach(
    wanted: readonly string[],
    act: (book: EgressBook, each: string, now: number) => boolean,
  ): Promise<{ changed: string[]; unknown: string[] }> {
    const changed: string[] = [];
    const missing: string[] = [];
    for (const some of slices([...new Set(wanted)]))
      await change((book, now) => {
        for (const each of some) (act(book, each, now) ? changed : missing).push(each);
      });
    if (changed.length === 0) throw unknown(missing);
    return { changed, unknown: missing };
  }
}

function* slices<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += AT_ONCE) yield all.slice(at, at + AT_ONCE);
}

function add(book: EgressBook, record: ProxyRecord, now: number): { id: string; known: boolean } {
  const known = book.proxyRecord(record.id) !== undefined;
  book.putProxy(record, now);
  return { id: record.id, known };
}

function recordOf(
  { url, weight, perHour, perMinute, control, ...wanted }: Wanted,
  usual: EgressCaps,
): ProxyRecord {
  const address = parseProxyAddress(url);
  return {
    type: 'proxy',
    id: wanted.id ?? proxyIdOf(address),
    address,
    weight: weight ?? 1,
    ...(control !== undefined && { control: readControl(control) }),
    ...((perHour !== undefined || perMinute !== undefined) && {
      caps: { perHour: perHour ?? usual.perHour, perMinute: perMinute ?? usual.perMinute },
    }),
    ...(wanted.machine !== undefined && { machine: wanted.machine }),
    ...(wanted.exclusive !== undefined && { exclusive: wanted.exclusive }),
    ...(wanted.tags !== undefined && { tags: wanted.tags }),
  };
}

/** `tcp://:password@127.0.0.1:9051`, or `127.0.0.1:9051` where Tor asks for none. */
function readControl(text: string): Secret {
  const url = text.includes('://') ? text : `tcp://${text}`;
  if (!URL.canParse(url) || new URL(url).port === '')
    throw new Failure('INVALID', 'the control address of the proxy must have a host and a port', {
      hint: 'For example tcp://:password@127.0.0.1:9051',
    });
  return new Secret(url);
}

function describe({ health, ...view }: ProxyView, record: ProxyRecord | undefined): object {
  return {
    ...view,
    endpoint: record ? describeProxyAddress(record.address) : view.endpoint,
    exclusive: record?.exclusive ?? false,
    tags: record?.tags ?? [],
    // As the health checks of old called them.
    ...(health && {
      health: {
        last_check: new Date(health.lastCheck).toISOString(),
        response_time: health.responseMs === undefined ? null : health.responseMs / 1_000,
        status_code: health.statusCode ?? null,
        is_healthy: health.isHealthy,
        error: health.error ?? null,
      },
    }),
  };
}

function unknown(missing: readonly string[]): Failure {
  const shown = missing.slice(0, 5).join(', ');
  return new Failure('INVALID', `there is no proxy ${shown}${missing.length > 5 ? ', …' : ''}`, {
    hint: '`trawl proxies ls` shows all of them.',
  });
}
