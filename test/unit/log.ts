import t from 'tap';
import { Secret } from '../../src/domain/secret.ts';
import { createLog, type Level } from '../../src/telemetry/log.ts';

function capture(format: 'json' | 'text', level: Level = 'info') {
  const lines: string[] = [];
  const log = createLog({
    level,
    format,
    write: (line) => lines.push(line),
    now: () => Date.UTC(2030, 0, 1),
  });
  return { log, lines };
}

t.test('a JSON line carries time, level, event and fields, also those of its parents', async (t) => {
  const { log, lines } = capture('json');
  log.child({ actor: 'w1' }).info('task.settled', { tookMs: 12 });
  t.same(JSON.parse(lines[0] ?? ''), {
    time: '2030-01-01T00:00:00.000Z',
    level: 'info',
    event: 'task.settled',
    actor: 'w1',
    tookMs: 12,
  });
});

t.test('the level decides, and a child follows it when it changes', async (t) => {
  const { log, lines } = capture('json', 'warn');
  const child = log.child({});
  child.info('unseen');
  t.same(lines, []);
  log.setLevel('debug');
  child.debug('seen');
  t.equal(lines.length, 1);
  t.equal(child.level(), 'debug');
});

t.test('nothing secret gets through, in either format', async (t) => {
  for (const format of ['json', 'text'] as const) {
    const { log, lines } = capture(format);
    log.error('proxy.failed', {
      url: 'http://user:canary@proxy:8080/',
      headers: { 'Proxy-Authorization': 'canary', cookie: 'canary', accept: 'text/html' },
      password: new Secret('canary'),
      nested: [{ token: 'canary' }],
      reason: new Error('connect http://user:canary@proxy failed'),
    });
    t.notMatch(lines.join('\n'), /canary/, format);
    t.match(lines.join('\n'), /text\/html/, 'the rest stays');
  }
});
