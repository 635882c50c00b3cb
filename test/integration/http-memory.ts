/** What hostile bodies cost in memory, measured from outside of the heap: the process as a whole. */
import t from 'tap';
import * as zlib from 'node:zlib';
import { startSite, startWorld } from '../kit/http-world.ts';

const MB = 1024 * 1024;

/** How much the process grew at most while `work` ran. */
async function growth(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 2);
  try {
    await work();
  } finally {
    clearInterval(watch);
  }
  return Math.max(most, process.memoryUsage.rss()) - before;
}

t.test('a bomb of 200 MB stays below the cap', async (t) => {
  const bomb = zlib.gzipSync(Buffer.alloc(200 * MB), { level: 9 });
  t.ok(bomb.length < 250_000, `${bomb.length} bytes`);
  const inner = zlib.gzipSync(bomb);
  const brotli = zlib.brotliCompressSync(Buffer.alloc(200 * MB), {
    params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 2 },
  });
  const site = await startSite(t, (request, response) => {
    const [coding, body] =
      request.url === '/double'
        ? ['gzip, gzip', inner]
        : request.url === '/br'
          ? ['br', brotli]
          : ['gzip', bomb];
    response.setHeader('content-encoding', coding).end(body);
  });
  const { failing, engine } = startWorld(t, [site]);
  for (const path of ['single', 'double', 'br']) {
    const grown = await growth(async () => {
      for (let i = 0; i < 5; i += 1) {
        const failure = await failing(`http://127.0.0.1:${site}/${path}`, { maxBytes: 4 * MB });
        t.match(failure, { code: 'REJECTED', sent: true });
      }
    });
    t.ok(grown < 60 * MB, `${path}: grew by ${(grown / MB).toFixed(1)} MB`);
  }
  t.equal(engine.stats().inFlight, 0);
});

t.test('a body of single bytes costs about its size', async (t) => {
  const pieces = Buffer.from('1\r\nx\r\n'.repeat(2_000_000));
  const site = await startSite(t, (_, response) => {
    response.socket?.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    response.socket?.write(pieces);
    response.socket?.write('0\r\n\r\n');
  });
  const { get } = startWorld(t, [site]);
  const grown = await growth(async () => {
    const { body } = await get(`http://127.0.0.1:${site}/`, { maxBytes: 4 * MB });
    t.equal(body.length, 2_000_000);
  });
  t.ok(grown < 80 * MB, `grew by ${(grown / MB).toFixed(1)} MB`);
});
