/** When Tor is asked for another way. */
import t from 'tap';
import { createCircuits } from '../../src/fetch/circuits.ts';
import { createFakeClock } from '../kit/fake-clock.ts';
import { quietLog } from '../kit/nats-server.ts';

const control = { host: '127.0.0.1', port: 9051 };

function setUp(fail = false): {
  readonly clock: ReturnType<typeof createFakeClock>;
  readonly told: string[];
  readonly circuits: ReturnType<typeof createCircuits>;
} {
  const clock = createFakeClock();
  const told: string[] = [];
  const circuits = createCircuits({
    clock,
    log: quietLog,
    async renew({ port }) {
      told.push(`renew ${port}`);
      if (fail) throw new Error('no');
    },
    drop: (egress) => void told.push(`drop ${egress}`),
  });
  return { clock, told, circuits };
}

t.test('at once, then at most every ten seconds, for all that go through it', async (t) => {
  const { clock, told, circuits } = setUp();
  circuits.renew({ egress: 'a', control });
  circuits.renew({ egress: 'b', control });
  circuits.renew({ egress: 'plain', control: undefined });
  await clock.pass(1);
  t.same(told, ['renew 9051', 'drop a', 'drop b']);
  circuits.renew({ egress: 'a', control });
  circuits.renew({ egress: 'a', control });
  await clock.pass(9_000);
  t.equal(told.length, 3, 'not yet');
  circuits.renew({ egress: 'c', control: { host: '127.0.0.1', port: 9151 } });
  await clock.pass(1);
  t.same(told.slice(3), ['renew 9151', 'drop c'], 'another Tor has a time of its own');
  await clock.pass(1_000);
  t.same(told.slice(5), ['renew 9051', 'drop a', 'drop b'], 'once for all who asked meanwhile');
  await clock.pass(60_000);
  t.equal(told.length, 8, 'and not again by itself');
});

t.test('where it fails connections stay, and after the end nothing is asked', async (t) => {
  const { clock, told, circuits } = setUp(true);
  circuits.renew({ egress: 'a', control });
  await clock.pass(1);
  t.same(told, ['renew 9051']);
  circuits.renew({ egress: 'a', control });
  circuits.close();
  circuits.renew({ egress: 'a', control });
  await clock.pass(60_000);
  t.equal(told.length, 1);
});
