/**
 * The cookies and headers of sessions on their way between the proxy-manager and the workers: sealed like in the bucket,
 * both together in the place of the cookies, because both may let people in.
 */
import * as v from 'valibot';
import type { AcquireReply, EgressReport, LeaseGrant, SessionNews, WantAnswer } from './egress.ts';
import { keys } from './names.ts';
import { headers } from './record-fields.ts';
import type { Seal } from './sealed.ts';

const secrets = v.object({ cookies: v.optional(v.string()), headers: v.optional(headers) });
type Secrets = v.InferOutput<typeof secrets>;

export function sealReply({ answers }: AcquireReply, seal: Seal): AcquireReply {
  return { answers: answers.map((answer) => eachLease(answer, (lease) => sealLease(lease, seal))) };
}

export function openReply({ answers }: AcquireReply, seal: Seal): AcquireReply {
  return { answers: answers.map((answer) => eachLease(answer, (lease) => openLease(lease, seal))) };
}

export function sealReport(report: EgressReport, seal: Seal): EgressReport {
  if (report.sessions.length === 0) return report;
  return { ...report, sessions: report.sessions.map((news) => sealNews(news, seal)) };
}

export function openReport(report: EgressReport, seal: Seal): EgressReport {
  if (report.sessions.length === 0) return report;
  return { ...report, sessions: report.sessions.map((news) => openNews(news, seal)) };
}

function eachLease(answer: WantAnswer, change: (lease: LeaseGrant) => LeaseGrant): WantAnswer {
  if (answer.kind === 'none' || !answer.leases.some(({ session }) => session)) return answer;
  return { ...answer, leases: answer.leases.map(change) };
}

function sealLease(lease: LeaseGrant, seal: Seal): LeaseGrant {
  const { session } = lease;
  return session ? { ...lease, session: { ...session, headers: {}, cookies: pack(session, seal) } } : lease;
}

/** What cannot be opened is empty: the session signs in again. */
function openLease(lease: LeaseGrant, seal: Seal): LeaseGrant {
  const { session } = lease;
  if (!session) return lease;
  const { cookies = '', headers: own = {} } = unpack(session, seal);
  return { ...lease, session: { ...session, headers: own, cookies } };
}

function sealNews(news: SessionNews, seal: Seal): SessionNews {
  if (news.cookies === undefined && news.headers === undefined) return news;
  return { ...bare(news), cookies: pack(news, seal) };
}

/** What cannot be opened is as it was: one word must not cost the rest of the report. */
function openNews(news: SessionNews, seal: Seal): SessionNews {
  const { id, cookies } = news;
  return cookies === undefined ? bare(news) : { ...bare(news), ...unpack({ id, cookies }, seal) };
}

function bare({ id, verdict, userAgent, validUntil }: SessionNews): SessionNews {
  return {
    id,
    verdict,
    ...(userAgent !== undefined && { userAgent }),
    ...(validUntil !== undefined && { validUntil }),
  };
}

function pack({ id, cookies, headers: own }: Secrets & { readonly id: string }, seal: Seal): string {
  return seal.seal(JSON.stringify({ cookies, headers: own }), keys.session(id));
}

function unpack({ id, cookies }: { readonly id: string; readonly cookies: string }, seal: Seal): Secrets {
  try {
    const read = v.safeParse(secrets, JSON.parse(seal.open(cookies, keys.session(id))));
    return read.success ? read.output : {};
  } catch {
    return {};
  }
}
