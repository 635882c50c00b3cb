import t from 'tap';
import { Secret } from '../../src/domain/secret.ts';
import type { AcquireReply, EgressReport, LeaseGrant } from '../../src/wire/egress.ts';
import { createSeal } from '../../src/wire/sealed.ts';
import { openReply, openReport, sealReply, sealReport } from '../../src/wire/sealed-sessions.ts';

const CANARY = 'canary-in-a-cage';
const seal = createSeal(new Secret('key'));
const other = createSeal(new Secret('another key'));

const lease: LeaseGrant = {
  ...{ id: 'l1', host: 'shop.example', egress: 'direct', permits: null, slots: null },
  ...{ spacingMs: 0, jitter: 0, startInMs: 0, validMs: 1_000 },
};
const session = {
  ...{ id: 's1', state: 'valid' as const, userAgent: 'ua', validUntil: 5 },
  headers: { authorization: CANARY },
  cookies: `{"cookies":"${CANARY}"}`,
};
const reply: AcquireReply = {
  answers: [
    { kind: 'granted', leases: [{ ...lease, session }, lease], robots: { state: 'same' } },
    { kind: 'granted', leases: [lease], robots: { state: 'same' } },
    { kind: 'none', reason: 'host_busy', retryInMs: 1 },
  ],
};
const empty = { worker: 'w', uses: [], done: [], renew: [], robots: [] };
const { id, cookies, headers } = session;
const report: EgressReport = {
  ...empty,
  sessions: [
    { id, verdict: 'ok', cookies, headers, userAgent: 'ua' },
    { id, verdict: 'ok', cookies },
    { id, verdict: 'ok', headers },
    { id, verdict: 'error' },
  ],
};

t.test('what is sealed on one side is opened on the other', async (t) => {
  for (const each of [seal, createSeal(undefined)]) {
    t.strictSame(openReply(sealReply(reply, each), each), reply);
    t.strictSame(openReport(sealReport(report, each), each), report);
  }
  t.equal(sealReport({ ...empty, sessions: [] }, seal).sessions.length, 0);
});

t.test('on the way there is nothing to read', async (t) => {
  const said = JSON.stringify([sealReply(reply, seal), sealReport(report, seal)]);
  t.notMatch(said, CANARY);
  t.match(said, /sealed1:/);
});

t.test('with another key, or moved to another session, it is as if it had not been said', async (t) => {
  const [answer] = openReply(sealReply(reply, seal), other).answers;
  t.match(answer, { leases: [{ session: { id: 's1', cookies: '', headers: {} } }, {}] });
  const moved = sealReport(report, seal).sessions.map((news) => ({ ...news, id: 's2' }));
  const heard = openReport({ ...empty, sessions: moved }, seal).sessions;
  t.strictSame(
    heard.map((news) => [news.verdict, news.cookies, news.headers]),
    [
      ['ok', undefined, undefined],
      ['ok', undefined, undefined],
      ['ok', undefined, undefined],
      ['error', undefined, undefined],
    ],
  );
});
