/** Rest between two looks. */
import t from 'tap';
import { createRest } from '../../src/runtime/rest.ts';

const LONG_MS = 60_000;

t.test('it ends after its time, and early when somebody says so', async (t) => {
  const over = new AbortController();
  const rest = createRest(over.signal);
  await rest.take(1);
  const taken = rest.take(LONG_MS);
  rest.end();
  await taken;
  rest.end();
  await rest.take(LONG_MS);
  t.pass('also when it was said before it began');
  const next = rest.take(LONG_MS);
  over.abort();
  await next;
  await rest.take(LONG_MS);
  t.pass('and not at all when all is over');
});
