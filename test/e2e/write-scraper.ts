/** `trawl new`, `trawl try` and `trawl dev`, as a person uses them: in a folder of their own, without a cluster. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { program } from '../../src/program.ts';
import { projectRoot } from '../../src/project-root.ts';
import { openDemoSite, openFakeProxy } from '../kit/demo-world.ts';
import { guard, temporaryFolder, type Teardown } from '../kit/nats-server.ts';

const folder = temporaryFolder(t);
mkdirSync(join(folder, 'node_modules'));
symlinkSync(projectRoot, join(folder, 'node_modules/trawl'));
const site = await openDemoSite(t);

function start(t: Teardown, ...words: string[]): ChildProcess {
  const child = spawn(process.execPath, words, {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  guard(child);
  t.teardown(() => void child.kill('SIGKILL'));
  return child;
}

async function run(
  t: Teardown,
  ...words: string[]
): Promise<{ code: number | null; out: string; err: string }> {
  const child = start(t, ...words);
  if (!child.stdout || !child.stderr) throw new Error('no pipes');
  const [[code], out, err] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, out, err };
}

const scraperFile = (name: string): string => join(folder, 'config/scrapers', name);

t.test('a new scraper passes its own test, in every language', { timeout: 120_000 }, async (t) => {
  for (const [name, file, ...flags] of [
    ['plain', 'plain.mjs'],
    ['typed', 'typed.ts', '--ts'],
    ['sheet', 'sheet.yaml', '--template'],
  ] as const) {
    const written = await run(t, program.main, 'new', name, ...flags);
    t.match(written, { code: 0, out: new RegExp(`Wrote .*${file} and [\\s\\S]*npx trawl try ${name}`) });
    t.ok(existsSync(scraperFile(file)));
    const tested = await run(t, '--test', scraperFile(`${name}.test.mjs`));
    t.match(tested, { code: 0, out: /# pass 2/ }, tested.out);
  }
  const again = await run(t, program.main, 'new', 'plain');
  t.match(again, { code: 1, err: /is there already/ }, 'nothing is written over');
  t.match(await run(t, program.main, 'new', 'a.b'), { code: 2, err: /letters, digits/ });
  t.match(await run(t, program.main, 'new', 'x', '--ts', '--template'), { code: 2, err: /not both/ });
});

t.test('one task, here and now', { timeout: 60_000 }, async (t) => {
  const seen = await run(t, program.main, 'try', 'plain', '--url', `${site.url}/`);
  t.equal(seen.code, 0, seen.err);
  t.match(seen.out, /^plain \(config\/scrapers\/plain\.mjs\): done after \d+ ms/);
  t.match(seen.out, /GET +200 +\d+ +\d+ +direct +http/);
  t.match(seen.out, /Items: 1\n {2}\{"url":/);
  const json = await run(t, program.main, 'try', 'typed', '--url', `${site.url}/`, '--json');
  t.match(JSON.parse(json.out), {
    scraper: 'typed',
    ok: true,
    error: null,
    items: [{ url: `${site.url}/` }],
    requests: [{ url: `${site.url}/robots.txt` }, { url: `${site.url}/`, status: 200, egress: 'direct' }],
  });
});

t.test('through a proxy that is given, of either kind', { timeout: 60_000 }, async (t) => {
  const credentials = { username: 'user', password: 'hunter2' };
  for (const [kind, outAddress] of [
    ['http', '127.0.0.8'],
    ['socks5', '127.0.0.9'],
  ] as const) {
    const proxy = await openFakeProxy(t, { kind, outAddress, credentials });
    if (proxy.outAddress !== undefined) site.nameAddress(proxy.outAddress, kind);
    const before = site.log.length;
    const seen = await run(t, program.main, 'try', 'plain', '--url', `${site.url}/`, '--proxy', proxy.url);
    t.equal(seen.code, 0, seen.err);
    t.match(seen.out, new RegExp(`Egress: ${kind}://127\\.0\\.0\\.1:${proxy.port}\n`));
    t.match(seen.out, new RegExp(`GET +200 +\\d+ +\\d+ +127-0-0-1-${proxy.port}-\\w+ +http`));
    t.notMatch(seen.out + seen.err, /hunter2/);
    const visits = site.log.slice(before);
    t.equal(visits.length, 2, 'robots.txt and the page');
    t.ok(proxy.log.length > 0);
    if (proxy.outAddress !== undefined) t.ok(visits.every(({ egress }) => egress === kind));
  }
});

t.test('who wants a proxy is not shown to the site from here unasked', { timeout: 60_000 }, async (t) => {
  const wanting = (name: string, egress: string): void =>
    writeFileSync(
      scraperFile(`${name}.mjs`),
      `export default { name: '${name}', egress: ${egress}, run: async ({ page, emit }) => emit((await page()).egress) };\n`,
    );
  wanting('hidden', `{ via: 'proxy' }`);
  wanting('hidden-if', `{ via: 'proxy', whenNone: 'direct' }`);
  const tryIt = (name: string, ...words: string[]): ReturnType<typeof run> =>
    run(t, program.main, 'try', name, '--url', `${site.url}/`, ...words);
  const before = site.log.length;
  const refused = await tryIt('hidden');
  t.match(refused, {
    code: 2,
    out: '',
    err: /hidden goes through a proxy .*none is given\n.*--proxy .*--direct/,
  });
  const byConfig = await tryIt('plain', '--egress-via', 'proxy');
  t.match(byConfig, { code: 2, err: /plain goes through a proxy/ });
  const dead = await openFakeProxy(t, { kind: 'http' });
  await dead.close();
  const gone = await tryIt('hidden', '--proxy', dead.url, '--json');
  t.match(gone, { code: 1 });
  t.match(JSON.parse(gone.out), { error: { code: 'PROXY' } }, 'it does not go another way');
  t.match(await tryIt('hidden', '--proxy', 'ftp://u:hunter2@127.0.0.1:1'), {
    code: 2,
    err: /not the address of a proxy: it must start with http:\/\//,
  });
  t.match(await tryIt('hidden', '--proxy', dead.url, '--direct'), { code: 2, err: /not both/ });
  t.equal(site.log.length, before, 'the site has seen nobody');
  const direct = await tryIt('hidden', '--direct');
  t.match(direct, { code: 0, out: /Egress: this machine's own address\n/ });
  const allowed = await tryIt('hidden-if', '--json');
  t.match(JSON.parse(allowed.out), { egress: 'direct', items: ['direct'] });
});

t.test('what goes wrong is shown with its place', { timeout: 60_000 }, async (t) => {
  writeFileSync(
    scraperFile('bad.mjs'),
    `import { defineScraper } from 'trawl';
export default defineScraper({
  name: 'bad',
  async run({ emit, input }) {
    emit(input.missing.field);
  },
});\n`,
  );
  writeFileSync(scraperFile('broken.mjs'), 'export default {\n  name: "broken",,\n};\n');
  const failed = await run(t, program.main, 'try', 'bad', '--input', '{"a":1}');
  t.match(failed, { code: 1, out: /Error: INTERNAL: Cannot read[\s\S]*bad\.mjs:5/ });
  const broken = await run(t, program.main, 'try', 'broken', '--url', `${site.url}/`);
  t.match(broken, {
    code: 2,
    err: /broken\.mjs: line 2: Unexpected token[\s\S]*Known here: bad, .*plain/,
  });
  t.match(await run(t, program.main, 'try', 'bad', '--input', '[1]'), { code: 2, err: /object of JSON/ });
  const gone = await run(t, program.main, 'try', 'plain', '--url', `${site.url}/nowhere`, '--json');
  t.equal(gone.code, 1);
  t.match(JSON.parse(gone.out), { ok: false, error: { code: 'REJECTED' }, items: [] });
});

t.test('again after every change, until it is told to stop', { timeout: 60_000 }, async (t) => {
  const proxy = await openFakeProxy(t, { kind: 'http' });
  const child = start(t, program.main, 'dev', 'plain', '--url', `${site.url}/`, '--proxy', proxy.url);
  let said = '';
  let look = (): void => undefined;
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (part: Buffer) => {
      said += part.toString();
      look();
    });
  const until = (pattern: RegExp): Promise<void> =>
    new Promise((resolve) => {
      look = () => {
        if (!pattern.test(said)) return;
        said = '';
        resolve();
      };
      look();
    });
  await until(/Egress: http:[\s\S]*Items: 1[\s\S]*waiting for a change/);
  const path = scraperFile('plain.mjs');
  const before = readFileSync(path, 'utf8');
  writeFileSync(path, before.replace('emit({ url: here.url, title });', 'emit({ changed: title });'));
  await until(/\{"changed":[\s\S]*waiting for a change/);
  writeFileSync(path, before.replace('emit({', 'emit({{'));
  await until(/line \d+: Unexpected token[\s\S]*waiting for a change/);
  writeFileSync(path, before);
  await until(/\{"url":[\s\S]*waiting for a change/);
  child.kill('SIGINT');
  const [code] = (await once(child, 'close')) as [number | null];
  t.equal(code, 0);
});
