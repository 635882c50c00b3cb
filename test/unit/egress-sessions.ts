import t from 'tap';
import { Secret } from '../../src/domain/secret.ts';
import { createDesk } from '../kit/egress-desk.ts';

const session = 'any' as const;

t.test('made when needed, held by one, used again through its own egress', async (t) => {
  const desk = createDesk();
  desk.addProxies(3);
  const first = desk.lease({ session });
  t.match(first, { egress: 'p00', slots: 1, session: { state: 'fresh', cookies: '' } });
  const id = first.session?.id ?? '';
  const second = desk.lease({ session }, 'w2');
  t.not(second.session?.id, id, 'the first is held');
  desk.report({
    sessions: [{ id, verdict: 'ok', cookies: '{"a":1}', userAgent: 'U', headers: { x: 'y' } }],
    done: [first.id],
  });
  desk.now += 1_000;
  desk.reload();
  const again = desk.lease({ session }, 'w3');
  t.match(again, { egress: 'p00', session: { id, state: 'valid', cookies: '{"a":1}', userAgent: 'U' } });
  t.match(desk.book.session(id), { state: 'valid', lease: again.id, egress: 'p00' });
  t.match(desk.denial({ session: { id } }, 'w4'), { reason: 'no_session' }, 'held by another');
  t.notMatch(
    desk.lease({ session, scraper: 'else' }, 'w5'),
    { session: { id } },
    'another scraper’s is another',
  );
});

t.test('only its holder tells news of it', async (t) => {
  const desk = createDesk();
  const lease = desk.lease({ session });
  const id = lease.session?.id ?? '';
  desk.report({ worker: 'w9', sessions: [{ id, verdict: 'retire', cookies: 'stolen' }] });
  t.match(desk.book.session(id), { state: 'fresh' });
});

t.test('invalid, worn out or unwanted ones are not used again', async (t) => {
  const desk = createDesk({ sessionErrorsMax: 2, sessionUsesMax: 3 });
  const take = (): { lease: string; id: string } => {
    const lease = desk.lease({ session });
    return { lease: lease.id, id: lease.session?.id ?? '' };
  };
  const bad = take();
  desk.report({ sessions: [{ id: bad.id, verdict: 'invalid' }], done: [bad.lease] });
  t.match(desk.book.session(bad.id), { state: 'invalid' });
  const failing = take();
  t.not(failing.id, bad.id);
  desk.report({ sessions: [{ id: failing.id, verdict: 'error' }], done: [failing.lease] });
  t.equal(take().id, failing.id, 'one error is forgiven');
  desk.report({ sessions: [{ id: failing.id, verdict: 'error' }] });
  t.match(desk.book.session(failing.id), { state: 'retired', errors: 2 });
  const worn = take();
  const uses = [0, 1, 2].map((n) => ({
    lease: worn.lease,
    n,
    outcome: 'ok' as const,
    startedAgoMs: 0,
    ms: 1,
  }));
  desk.report({ uses, done: [worn.lease] });
  t.match(desk.book.session(worn.id), { state: 'retired', uses: 3 });
  const last = take();
  t.equal(desk.book.retireSession(last.id, desk.now), true);
  t.strictSame(desk.report({ renew: [last.lease] }).ended, [last.lease]);
  t.match(desk.book.gauges(desk.now).sessionsByState, { retired: 3, invalid: 1 });
  desk.now += 3_700_000;
  desk.book.tick(desk.now);
  t.strictSame(desk.book.sessions(), [], 'and are forgotten');
});

t.test('one whose time is over is to be made valid again', async (t) => {
  const desk = createDesk();
  const lease = desk.lease({ session });
  const id = lease.session?.id ?? '';
  desk.report({
    sessions: [{ id, verdict: 'ok', cookies: 'c', validUntil: desk.now + 500 }],
    done: [lease.id],
  });
  desk.now += 500;
  t.match(desk.lease({ session: { id } }), { session: { state: 'fresh', cookies: 'c' } });
});

t.test('a proxy that is gone takes its sessions along; one that rests keeps them', async (t) => {
  const desk = createDesk();
  desk.addProxies(2);
  const [first, second] = [desk.lease({ session }), desk.lease({ session })];
  desk.report({ done: [first.id, second.id] });
  desk.book.freeze(first.egress, 'rest', desk.now);
  desk.now += 1;
  t.match(desk.lease({ session }), { egress: second.egress, session: { id: second.session?.id } });
  t.match(desk.denial({ session: { id: first.session?.id ?? '' } }), { reason: 'no_proxy_available' });
  desk.book.removeProxy(first.egress, desk.now);
  t.match(desk.book.session(first.session?.id ?? ''), { state: 'retired' });
});

t.test('no more of them than allowed', async (t) => {
  const desk = createDesk({ sessionsPerHostMax: 2 });
  t.equal(desk.leases({ session, count: 5, slots: 5 }).length, 2);
  t.match(desk.denial({ session }), { reason: 'no_session', retryInMs: 2_000 });
});

t.test('a person brings one along', async (t) => {
  const desk = createDesk();
  desk.addProxies(1);
  const record = {
    type: 'session' as const,
    id: 'mine',
    host: 'site',
    scraper: 's',
    egress: 'p00',
    state: 'valid' as const,
    userAgent: 'U',
    headers: {},
    cookies: new Secret('jar'),
    uses: 0,
    errors: 0,
    createdAt: desk.now,
    usedAt: 0,
  };
  desk.book.putSession(record, desk.now);
  const lease = desk.lease({ session });
  t.match(lease, { egress: 'p00', session: { id: 'mine', cookies: 'jar' } });
  desk.book.putSession({ ...record, cookies: new Secret('new') }, desk.now);
  t.match(desk.denial({ session: { id: 'mine' } }, 'w2'), { reason: 'no_session' }, 'its holder goes on');
  t.strictSame(desk.report({ renew: [lease.id] }).ended, [lease.id]);
  desk.report({ done: [lease.id] });
  t.match(desk.lease({ session: { id: 'mine' } }, 'w2'), { session: { cookies: 'new' } });
});
