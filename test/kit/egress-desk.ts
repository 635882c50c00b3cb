/** A book with a clock that stands still until told, and short words for what tests say to it. */
import { createBook, type EgressBook } from '../../src/policy/egress/book.ts';
import { BOOK_DEFAULTS, NO_HOST_LIMITS, type BookLimits } from '../../src/policy/egress/limits.ts';
import type { EgressRecord, EgressWrite, ProxyRecord } from '../../src/policy/egress/records.ts';
import type { HostLimits, UseOutcome } from '../../src/domain/egress.ts';
import type { EgressReport, LeaseGrant, ReportReply, Use, Want, WantAnswer } from '../../src/wire/egress.ts';

export interface Desk {
  readonly book: EgressBook;
  now: number;
  ask(want?: Partial<Want>, worker?: string): WantAnswer;
  /** The leases; none where none was granted. */
  leases(want?: Partial<Want>, worker?: string): readonly LeaseGrant[];
  /** The one lease. */
  lease(want?: Partial<Want>, worker?: string): LeaseGrant;
  /** Why not, and for how long. */
  denial(want?: Partial<Want>, worker?: string): { readonly reason: string; readonly retryInMs: number };
  report(report: Partial<EgressReport>): ReportReply;
  /** One request each under these leases, ended so, and the leases given back. */
  use(leases: readonly LeaseGrant[], outcome?: UseOutcome, more?: Partial<Use>): ReportReply;
  addProxies(count: number, more?: Partial<ProxyRecord>): void;
  /** Another leader goes on from what is stored. */
  reload(): void;
  /** What is stored, by key, after all that was written. */
  stored(): ReadonlyMap<string, EgressRecord>;
  events(): string[];
}

export const WORKER = 'w1';

export function createDesk(
  options: Partial<Omit<BookLimits, 'hostLimits'>> & { readonly host?: Partial<HostLimits> } = {},
): Desk {
  const { host, ...rest } = options;
  const limits: BookLimits = {
    ...BOOK_DEFAULTS,
    robots: false,
    skewMs: 0,
    ...rest,
    hostLimits: { ...NO_HOST_LIMITS, ...host },
  };
  const records = new Map<string, EgressRecord>();
  let book = createBook(limits, 'a');
  let terms = 0;

  const desk: Desk = {
    get book() {
      return book;
    },
    now: 1_700_000_000_000,
    ask(want = {}, worker = WORKER) {
      const request = { worker, machine: 'm1', wants: [{ ...WANT, ...want }] };
      const [answer] = book.acquire(request, desk.now, () => 0.5).answers;
      keep(book.takeWrites(desk.now));
      if (!answer) throw new Error('a want is answered');
      return answer;
    },
    leases(want, worker) {
      const answer = desk.ask(want, worker);
      return answer.kind === 'granted' ? answer.leases : [];
    },
    lease(want, worker) {
      const [lease, second] = desk.leases(want, worker);
      if (!lease || second) throw new Error('one lease was expected');
      return lease;
    },
    denial(want, worker) {
      const answer = desk.ask(want, worker);
      if (answer.kind !== 'none') throw new Error('nothing should have been granted');
      return { reason: answer.reason, retryInMs: answer.retryInMs };
    },
    report(report) {
      const empty = { worker: WORKER, uses: [], done: [], renew: [], sessions: [], robots: [] };
      const reply = book.report({ ...empty, ...report }, desk.now);
      keep(book.takeWrites(desk.now));
      return reply;
    },
    use: (leases, outcome = 'ok', more = {}) =>
      desk.report({
        uses: leases.map(({ id }) => ({ lease: id, n: 0, outcome, startedAgoMs: 0, ms: 10, ...more })),
        done: leases.map(({ id }) => id),
      }),
    addProxies(count, more = {}) {
      for (let index = 0; index < count; index += 1)
        book.putProxy({ ...PROXY, id: `p${String(index).padStart(2, '0')}`, ...more }, desk.now);
      keep(book.takeWrites(desk.now));
      book.takeEvents();
    },
    reload() {
      terms += 1;
      book = createBook(limits, `b${terms}`);
      book.load(records.values(), desk.now);
    },
    stored: () => records,
    events: () =>
      book.takeEvents().map((event) => {
        const { kind, to, reason } = event;
        if (kind !== 'host') return `${kind} ${event.id} ${to}: ${reason}`;
        return `host ${event.host}${event.egress === undefined ? '' : ` ${event.egress}`} ${to}: ${reason}`;
      }),
  };
  return desk;

  function keep(writes: readonly EgressWrite[]): void {
    for (const write of writes)
      if (write.kind === 'put') records.set(write.key, write.record);
      else records.delete(write.key);
  }
}

const PROXY: ProxyRecord = {
  type: 'proxy',
  id: 'p',
  address: { kind: 'http', host: '192.0.2.1', port: 8_080 },
  weight: 1,
};

const WANT: Want = {
  host: 'site',
  scraper: 's',
  count: 1,
  slots: 1,
  via: 'auto',
  select: 'lru',
  exclusive: false,
  tried: [],
};
