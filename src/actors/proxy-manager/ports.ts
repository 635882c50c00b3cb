/** What the proxy-manager needs from outside, and what it offers while it leads. */
import type { NoEgressReason } from '../../domain/egress.ts';
import type { EgressBook } from '../../policy/egress/book.ts';
import type {
  EgressEvent,
  EgressRecord,
  EgressWrite,
  ProbeResult,
  ProxyRecord,
} from '../../policy/egress/records.ts';
import type { ProxyView } from '../../policy/egress/views.ts';
import type { Term } from '../../runtime/leadership.ts';
import type { Log } from '../../telemetry/log.ts';
import type { AcquireReply, AcquireRequest, EgressReport, ReportReply } from '../../wire/egress.ts';

/** The one way to the book: whatever goes through it is stored before it is answered. */
export interface Counter {
  acquire(request: AcquireRequest): Promise<AcquireReply>;
  report(report: EgressReport): Promise<ReportReply>;
  /** A change by a person; what it returns is told when it is stored, what it throws at once. */
  change<T>(apply: (book: EgressBook, now: number) => T): Promise<T>;
  /** A look at what there is; changes nothing. */
  look<T>(read: (book: EgressBook, now: number) => T): T;
}

export interface EgressTerm extends Term {
  /** Unlike that of every other term. */
  readonly name: string;
  load(): Promise<readonly EgressRecord[]>;
  /** Resolves when all of it is stored; when it throws the term is over. */
  commit(writes: readonly EgressWrite[]): Promise<void>;
  /** Lets others ask at this counter; returns the undo. */
  serve(counter: Counter): Promise<() => Promise<void>>;
}

export interface EgressMeters {
  granted(count: number): void;
  denied(reason: NoEgressReason): void;
  round(ms: number): void;
  /** What to look at while we lead; undefined: we no longer do. */
  readWith(look: { proxies(): readonly ProxyView[] } | undefined): void;
}

export interface ProxyManagerPorts {
  lead(quiet: AbortSignal, work: (term: EgressTerm) => Promise<void>): Promise<void>;
  /** A proxy's address as it goes into a lease. */
  readonly sealAddress: (proxy: ProxyRecord) => { readonly url: string; readonly control?: string };
  /** One look at whether a proxy works; never throws. Absent: proxies are not probed. */
  readonly probe?: ((proxy: ProxyRecord, signal: AbortSignal) => Promise<ProbeResult>) | undefined;
  announce(event: EgressEvent): void;
  /** Tells all workers what they hold no longer, and which hosts are closed. */
  broadcast(news: ReportReply): void;
  /** Epoch ms, by a clock that nobody sets while we run. */
  now(): number;
  random(): number;
  readonly meters: EgressMeters;
  readonly log: Log;
}
