/** Proxies, hosts and sessions as text for a person. */
import type { HostAnswer, HostRow, ProxyAnswer, SessionAnswer } from '../client/egress-answers.ts';
import { renderAge, renderTable } from './table.ts';

export function renderProxies(proxies: readonly ProxyAnswer[], now: number): string {
  return renderTable(
    ['ID', 'ENDPOINT', 'STATE', 'REASON', 'SINCE', 'UNTIL', 'HOUR', 'MINUTE', 'LAST USE', 'HEALTH', 'SCORE'],
    proxies.map((proxy) => [
      proxy.id,
      proxy.endpoint,
      proxy.state,
      short(proxy.reason),
      ago(proxy.since, now),
      ahead(proxy.until, now),
      used(proxy.usedHour, proxy.caps.perHour),
      used(proxy.usedMinute, proxy.caps.perMinute),
      ago(proxy.usedAt, now),
      healthOf(proxy.health),
      proxy.score.toFixed(2),
    ]),
  );
}

export function renderProxy(proxy: ProxyAnswer): string {
  const { health } = proxy;
  return renderFacts([
    ['id', proxy.id],
    ['endpoint', proxy.endpoint],
    ['state', proxy.state],
    ['reason', proxy.reason || '-'],
    ['since', time(proxy.since)],
    ['until', time(proxy.until)],
    ['weight', String(proxy.weight)],
    ['exclusive', proxy.exclusive ? 'yes' : 'no'],
    ['machine', proxy.machine ?? 'any'],
    ['tags', proxy.tags.join(', ') || '-'],
    ['this hour', used(proxy.usedHour, proxy.caps.perHour)],
    ['this minute', used(proxy.usedMinute, proxy.caps.perMinute)],
    ['last use', time(proxy.usedAt)],
    ['leases', String(proxy.leases)],
    ['failures in a row', String(proxy.failuresInARow)],
    ['score', proxy.score.toFixed(2)],
    ['latency', `${Math.round(proxy.latencyMs)} ms`],
    ['last_check', health?.last_check ?? '-'],
    ['is_healthy', health ? (health.is_healthy ? 'yes' : 'no') : '-'],
    ['response_time', health?.response_time == null ? '-' : `${health.response_time} s`],
    ['status_code', health?.status_code == null ? '-' : String(health.status_code)],
    ['error', health?.error ?? '-'],
  ]);
}

export function renderHosts(hosts: readonly HostRow[], now: number): string {
  return renderTable(
    ['HOST', 'STATE', 'REASON', 'SINCE', 'UNTIL', 'DELAY', 'AT ONCE', 'HOUR', 'MINUTE', 'LEASES', 'EGRESSES'],
    hosts.map((host) => [
      host.host,
      host.state,
      short(host.closure?.reason ?? ''),
      ago(host.closure?.since, now),
      host.closure && host.closure.until === undefined ? 'opened' : ahead(host.closure?.until, now),
      delayOf(host),
      host.limits.concurrency === 0 ? '-' : String(host.limits.concurrency),
      used(host.usedHour, host.limits.perHour),
      used(host.usedMinute, host.limits.perMinute),
      String(host.leases),
      String(host.egresses),
    ]),
  );
}

export function renderHost(host: HostAnswer, now: number): string {
  const { limits, closure } = host;
  const facts = renderFacts([
    ['host', host.host],
    ['state', host.state],
    ['reason', closure?.reason ?? '-'],
    ['since', time(closure?.since)],
    ['until', closure && closure.until === undefined ? 'somebody opens it' : time(closure?.until)],
    ['delay', `${limits.delayMs} ms, stretched by up to ${Math.round(limits.jitter * 100)} %`],
    ['slowed to', host.adaptiveDelayMs === 0 ? '-' : `${host.adaptiveDelayMs} ms`],
    ['crawl-delay', host.crawlDelayMs === 0 ? '-' : `${host.crawlDelayMs} ms`],
    ['delay per egress', `${limits.egressDelayMs} ms`],
    ['at once', limits.concurrency === 0 ? 'no limit' : String(limits.concurrency)],
    ['this hour', used(host.usedHour, limits.perHour)],
    ['this minute', used(host.usedMinute, limits.perMinute)],
    ['leases', String(host.leases)],
  ]);
  if (host.egresses.length === 0) return facts;
  const rows = host.egresses.map(({ egress, closure: closed, usedHour, score }) => [
    egress,
    closed ? 'closed' : 'open',
    short(closed?.reason ?? ''),
    ahead(closed?.until, now),
    used(usedHour, limits.egressCaps.perHour),
    score.toFixed(2),
  ]);
  return `${facts}\n\n${renderTable(['EGRESS', 'STATE', 'REASON', 'UNTIL', 'HOUR', 'SCORE'], rows)}`;
}

export function renderSessions(sessions: readonly SessionAnswer[], now: number): string {
  return renderTable(
    ['ID', 'HOST', 'SCRAPER', 'EGRESS', 'STATE', 'USES', 'ERRORS', 'AGE', 'LAST USE', 'VALID FOR'],
    sessions.map((each) => [
      each.id,
      each.host,
      each.scraper,
      each.egress,
      each.state,
      String(each.uses),
      String(each.errors),
      ago(each.createdAt, now),
      ago(each.usedAt, now),
      ahead(each.validUntil, now),
    ]),
  );
}

export function renderSession(session: SessionAnswer): string {
  return renderFacts([
    ['id', session.id],
    ['host', session.host],
    ['scraper', session.scraper],
    ['egress', session.egress],
    ['state', session.state],
    ['uses', String(session.uses)],
    ['errors', String(session.errors)],
    ['created', time(session.createdAt)],
    ['last use', time(session.usedAt)],
    ['valid until', time(session.validUntil)],
  ]);
}

function renderFacts(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
}

function delayOf({ limits, adaptiveDelayMs, crawlDelayMs }: HostRow): string {
  const ms = Math.max(limits.delayMs, adaptiveDelayMs, crawlDelayMs);
  return ms === 0 ? '-' : `${ms} ms`;
}

function healthOf(health: ProxyAnswer['health']): string {
  if (!health) return '-';
  const seconds = health.response_time == null ? '' : ` ${health.response_time} s`;
  return health.is_healthy ? `ok${seconds}` : `${health.status_code ?? 'fails'}${seconds}`;
}

function used(count: number, max: number): string {
  return max === 0 ? String(count) : `${count}/${max}`;
}

function ago(at: number | undefined, now: number): string {
  return at === undefined || at <= 0 ? '-' : renderAge(now - at);
}

function ahead(at: number | undefined, now: number): string {
  return at === undefined ? '-' : renderAge(at - now);
}

function time(at: number | undefined): string {
  return at === undefined || at <= 0 ? '-' : new Date(at).toISOString();
}

function short(text: string): string {
  if (text === '') return '-';
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
