/** What a handler's end says about its attempt. */
import t from 'tap';
import { leaveBehind, startAttempt, tellToEnd, type Attempt } from '../../src/actors/worker/attempt.ts';
import { Failure } from '../../src/domain/failure.ts';
import type { AttemptOutcome } from '../../src/policy/settle.ts';
import type { Page } from '../../src/scrapers/page.ts';
import type { Scraper } from '../../src/scrapers/scraper.ts';
import { makeDelivery } from '../kit/deliveries.ts';
import { quietLog } from '../kit/nats-server.ts';

type Run = Scraper['run'];

function start(run: Run): { attempt: Attempt; outcome: Promise<AttemptOutcome> } {
  let resolve: (outcome: AttemptOutcome) => void = () => undefined;
  const outcome = new Promise<AttemptOutcome>((done) => (resolve = done));
  const attempt = startAttempt({
    delivery: makeDelivery('a'),
    scraper: { name: 'test', run },
    timeoutMs: 77,
    ports: { withLock: (_lock, use) => use(new AbortController().signal), log: quietLog },
    onEnd: (_attempt, ended) => resolve(ended),
  });
  return { attempt, outcome };
}

const untilAborted: Run = ({ signal }) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

t.test('items and data', async (t) => {
  const { outcome } = start(async (context) => {
    context.emit(1);
    context.emit({ b: 2 });
    return 'page';
  });
  t.same(await outcome, { kind: 'done', result: { items: [1, { b: 2 }], pages: 0, bytes: 0, data: 'page' } });
});

t.test('pages are fetched by what is opened for the attempt, counted, and closed with it', async (t) => {
  const calls: string[] = [];
  let opened = 0;
  const ended = new Promise<AttemptOutcome>((resolve) => {
    startAttempt({
      delivery: makeDelivery('a'),
      scraper: {
        name: 'test',
        async run({ fetch, session }) {
          calls.push(session ? 'session' : 'none');
          await fetch('http://a.example/');
          await fetch('http://b.example/');
        },
      },
      timeoutMs: 77,
      ports: {
        withLock: (_lock, use) => use(new AbortController().signal),
        log: quietLog,
        openFetch() {
          opened += 1;
          return {
            async fetch(url) {
              calls.push(String(url));
              return {} as Page;
            },
            session: () => undefined,
            counts: () => ({ pages: 2, bytes: 30 }),
            close: () => void calls.push('closed'),
          };
        },
      },
      onEnd: (_attempt, outcome) => resolve(outcome),
    });
  });
  t.same(await ended, { kind: 'done', result: { items: [], pages: 2, bytes: 30 } });
  t.equal(opened, 1);
  t.same(calls, ['none', 'http://a.example/', 'http://b.example/', 'closed']);
  const { outcome } = start(async ({ fetch }) => fetch('http://a.example/'));
  t.match(await outcome, {
    kind: 'failed',
    failure: { code: 'INTERNAL', message: 'this worker cannot fetch' },
  });
});

t.test('what is thrown', async (t) => {
  const foreign = Object.assign(new Error('elsewhere'), {
    name: 'Failure',
    code: 'PROXY',
    proxy: 'p1',
    retryAtMs: 5,
  });
  const cases: [string, unknown, object][] = [
    [
      'a Failure keeps its code',
      new Failure('NETWORK', 'gone'),
      { failure: { code: 'NETWORK', message: 'gone' } },
    ],
    [
      'one of another copy of the package, too',
      foreign,
      { failure: { code: 'PROXY', retryAtMs: 5 }, proxy: 'p1' },
    ],
    ['anything else is INTERNAL', new TypeError('oh'), { failure: { code: 'INTERNAL', message: 'oh' } }],
    [
      'a code of somebody else',
      Object.assign(new Error('x'), { code: 'ENOENT' }),
      { failure: { code: 'INTERNAL' } },
    ],
    ['no error at all', 'text', { failure: { code: 'INTERNAL', message: 'text' } }],
    ['nothing', undefined, { failure: { code: 'INTERNAL', message: 'undefined' } }],
    [
      'stopping is not its to say',
      new Failure('CANCELLED', 'me'),
      { failure: { code: 'INTERNAL', message: 'me' } },
    ],
  ];
  for (const [name, error, expected] of cases) {
    const throwing = (): never => {
      throw error;
    };
    t.match(await start(throwing).outcome, { kind: 'failed', ...expected }, `${name}, thrown at once`);
    t.match(await start(async () => throwing()).outcome, { kind: 'failed', ...expected }, name);
  }
});

t.test('told to end', async (t) => {
  const endings = [
    [{ kind: 'timeout' }, { kind: 'failed', failure: { code: 'TIMEOUT', message: 'not done within 77 ms' } }],
    [{ kind: 'stopping' }, { kind: 'failed', failure: { code: 'CANCELLED' } }],
    [
      { kind: 'lock-lost', failure: new Failure('CONFLICT', 'lost it') },
      { kind: 'failed', failure: { code: 'CONFLICT', message: 'lost it' } },
    ],
    [
      { kind: 'cancelled', why: 'unwanted' },
      { kind: 'cancelled', why: 'unwanted' },
    ],
  ] as const;
  for (const [ending, expected] of endings) {
    const heeds = start(untilAborted);
    tellToEnd(heeds.attempt, ending);
    t.match(await heeds.outcome, expected, `${ending.kind}: heeds`);

    const partial = start(
      ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(1))),
    );
    tellToEnd(partial.attempt, ending);
    t.match(await partial.outcome, expected, `${ending.kind}: returns something`);

    const deaf = start(() => new Promise(() => undefined));
    tellToEnd(deaf.attempt, ending);
    leaveBehind(deaf.attempt);
    t.match(await deaf.outcome, expected, `${ending.kind}: does not listen`);
  }
});

t.test('a signal that is asked for late has aborted', async (t) => {
  let look = (): boolean => false;
  const { attempt } = start((context) => {
    look = () => context.signal.aborted;
    return new Promise(() => undefined);
  });
  tellToEnd(attempt, { kind: 'timeout' });
  t.ok(look());
});
