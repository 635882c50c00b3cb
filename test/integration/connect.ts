/** The connection: waits, fails, explains, comes back. */
import t from 'tap';
import { inspect } from 'node:util';
import { Secret } from '../../src/domain/secret.ts';
import { connectNats, type ConnectOptions } from '../../src/nats/connect.ts';
import { quietLog, startNatsServer } from '../kit/nats-server.ts';
import { startOldServer } from '../kit/old-server.ts';

const options = (access: ConnectOptions['access'], more: Partial<ConnectOptions> = {}): ConnectOptions => ({
  access,
  name: 'test',
  log: quietLog,
  whenUnreachable: 'fail',
  ...more,
});

t.test('no server: a person is told at once', async (t) => {
  await t.rejects(connectNats(options({ url: ['nats://127.0.0.1:1'] })), {
    code: 'UNAVAILABLE',
    message: /no NATS server answers at nats:\/\/127\.0\.0\.1:1/,
    hint: /trawl up/,
  });
});

t.test('no server: an actor waits for it, and a stop ends the wait', async (t) => {
  const server = await startNatsServer(t);
  await server.kill('SIGKILL');
  const waiting = connectNats(options({ url: [server.url] }, { whenUnreachable: 'wait' }));
  await server.start();
  const connection = await waiting;
  t.ok(connection.isUp());
  await connection.close();
  t.equal(await connection.ended, undefined, 'a close of ours is no failure');

  const stop = new AbortController();
  const never = connectNats(
    options({ url: ['nats://127.0.0.1:1'] }, { whenUnreachable: 'wait', stop: stop.signal }),
  );
  setImmediate(() => stop.abort());
  await t.rejects(never, { code: 'CANCELLED' });
});

t.test('wrong credentials are a refusal, without the password in it', async (t) => {
  const server = await startNatsServer(t, { config: 'authorization { user: trawl, password: right }' });
  const wrong = connectNats(
    options(
      { url: [server.url], user: 'trawl', password: new Secret('canary') },
      { whenUnreachable: 'wait' },
    ),
  );
  const failure = await wrong.catch((error: unknown) => error as Error);
  t.match(failure, { code: 'REJECTED', message: /refused the credentials/, hint: /nats\.password/ });
  t.notMatch(inspect(failure, { depth: 10 }), /canary/);
  const right = await connectNats(
    options({ url: [server.url], user: 'trawl', password: new Secret('right') }),
  );
  await right.close();
});

t.test('a token works as well', async (t) => {
  const server = await startNatsServer(t, { config: 'authorization { token: abc }' });
  const connection = await connectNats(options({ url: [server.url], token: new Secret('abc') }));
  await connection.close();
});

t.test('tls:// is never spoken in the clear', async (t) => {
  const plain = await startNatsServer(t);
  await t.rejects(connectNats(options({ url: [`tls://127.0.0.1:${plain.port}`] })));
});

t.test('the connection tells when it goes and when it is back', async (t) => {
  const server = await startNatsServer(t);
  const connection = await server.connect();
  const changes: boolean[] = [];
  const until = (up: boolean): Promise<void> =>
    new Promise((resolve) => {
      const forget = connection.onChange((now) => {
        changes.push(now);
        if (now !== up) return;
        forget();
        resolve();
      });
    });
  const down = until(false);
  await server.kill('SIGKILL');
  await down;
  t.notOk(connection.isUp());
  const back = until(true);
  await server.start();
  await back;
  t.ok(connection.isUp());
  t.same(changes, [false, true]);
});

t.test('a server that comes back too old is refused as well', async (t) => {
  const server = await startNatsServer(t);
  const connection = await server.connect();
  const changes: boolean[] = [];
  connection.onChange((up) => changes.push(up));
  await server.kill('SIGKILL');
  await startOldServer(t, server.port);
  t.match(await connection.ended, { code: 'REJECTED', message: /2\.9\.10 is too old/ });
  t.notOk(connection.isUp());
  t.same(changes, [false], 'it was never up again');
});
