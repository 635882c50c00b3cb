/** A proxy-manager that grants what the test says, and remembers what it was asked and told. */
import type { EgressPort } from '../../src/fetch/lease-ports.ts';
import type {
  AcquireRequest,
  EgressReport,
  LeaseGrant,
  ReportReply,
  Use,
  Want,
  WantAnswer,
} from '../../src/wire/egress.ts';

export interface FakeManager extends EgressPort {
  readonly requests: AcquireRequest[];
  readonly reports: EgressReport[];
  /** What the next wants get; the last one stays. Undefined: no answer at all. */
  answer(...answers: readonly ((want: Want) => WantAnswer | undefined)[]): void;
  /** What the next reports get; undefined: no answer. */
  replyWith(reply: (report: EgressReport) => ReportReply | undefined): void;
  tellAll(news: ReportReply): void;
  uses(): Use[];
  done(): string[];
  listeners(): number;
}

let count = 0;

export function grant(change: Partial<LeaseGrant> = {}): LeaseGrant {
  count += 1;
  return {
    id: `l${count}`,
    host: 'site.example',
    egress: 'direct',
    permits: null,
    slots: null,
    spacingMs: 0,
    jitter: 0,
    startInMs: 0,
    validMs: 15_000,
    ...change,
  };
}

export function granted(...leases: readonly Partial<LeaseGrant>[]): (want: Want) => WantAnswer {
  return (want) => ({
    kind: 'granted',
    leases: leases.map((each) => grant({ host: want.host, ...each })),
    robots: { state: 'ignored' },
  });
}

export function refused(
  reason: Extract<WantAnswer, { kind: 'none' }>['reason'],
  retryInMs: number,
): () => WantAnswer {
  return () => ({ kind: 'none', reason, retryInMs });
}

export const NOTHING: ReportReply = { ended: [], closed: [] };

export function createFakeManager(): FakeManager {
  const requests: AcquireRequest[] = [];
  const reports: EgressReport[] = [];
  const listeners = new Set<(news: ReportReply) => void>();
  let answers: readonly ((want: Want) => WantAnswer | undefined)[] = [granted({})];
  let reply: (report: EgressReport) => ReportReply | undefined = () => NOTHING;
  return {
    requests,
    reports,
    answer: (...given) => void (answers = given),
    replyWith: (given) => void (reply = given),
    tellAll: (news) => listeners.forEach((listener) => listener(news)),
    uses: () => reports.flatMap(({ uses }) => uses),
    done: () => reports.flatMap(({ done }) => done),
    listeners: () => listeners.size,
    async acquire(request) {
      requests.push(request);
      const given = request.wants.map((want) => {
        const [first, ...rest] = answers;
        if (rest.length > 0) answers = rest;
        return first?.(want);
      });
      const known = given.filter((each) => each !== undefined);
      return known.length === given.length ? { answers: known } : undefined;
    },
    async report(report) {
      reports.push(report);
      return reply(report);
    },
    onNews(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
