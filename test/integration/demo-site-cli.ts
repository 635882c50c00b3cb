/** `trawl demo-site` as people run it. */
import t from 'tap';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ChildProcess } from 'node:child_process';
import { openDemoSite, visit } from '../kit/demo-world.ts';
import { installTrawl } from '../kit/trawl.ts';

/** The lines of stdout up to one that passes. */
async function readUntil(child: ChildProcess, last: (line: string) => boolean): Promise<string[]> {
  const lines: string[] = [];
  if (!child.stdout) throw new Error('no pipe');
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (last(line)) return lines;
  }
  throw new Error(`it ended: ${lines.join('\n')}`);
}

t.test('it says what is where, serves until a signal, and ends well', async (t) => {
  const trawl = await installTrawl(t);
  const child = trawl.start('demo-site', '--port', '0', '--proxies', '2', '--seed', '4', '--https-port', '0');
  const lines = await readUntil(child, (line) => line.startsWith('socks5://'));
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(lines[0] ?? '')?.[0] ?? '';
  t.match(lines.join('\n'), /\/catalogue\?page=1 +pages of 20 products/);
  t.match(lines[0], /https:\/\/127\.0\.0\.1:\d+ \(self-signed\)/);
  t.equal((await visit(`${url}/product/1`)).status, 200);
  t.equal((await visit(`${url}/__proxies`)).text, `${lines.slice(-2).join('\n')}\n`);
  const proxy = new URL(lines.at(-2) ?? '');
  const login = Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64');
  const headers = { 'proxy-authorization': `Basic ${login}`, host: 'shop.test' };
  const passed = await visit(`http://127.0.0.1:${proxy.port}/`, { headers, path: 'http://shop.test/ip' });
  t.same(passed.json(), { ip: '127.0.0.2' }, 'any name leads to the site');
  child.kill('SIGINT');
  t.same(await once(child, 'exit'), [0, null]);
  await t.rejects(visit(url), { code: 'ECONNREFUSED' });
});

t.test('--json is one document; mistakes are told', async (t) => {
  const trawl = await installTrawl(t);
  const child = trawl.start('demo-site', '--port', '0', '--json');
  const told = JSON.parse((await readUntil(child, (line) => line === '}')).join('\n')) as { url: string };
  t.match(told, {
    url: /^http:\/\/127\.0\.0\.1:\d+$/,
    https: null,
    seed: 1,
    proxies: [],
    login: { user: 'demo' },
  });
  child.kill('SIGTERM');
  t.same(await once(child, 'exit'), [0, null]);
  const { port } = await openDemoSite(t);
  t.match(await trawl.run('demo-site', '--port', String(port)), {
    code: 1,
    stderr: /cannot listen[\s\S]*another port/,
  });
  t.match(await trawl.run('demo-site', '--proxies', '900'), { code: 2, stderr: /0 to 200/ });
});
