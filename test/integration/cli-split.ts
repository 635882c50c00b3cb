/** `trawl split`: every task is in one part, and every host in one part only. */
import t from 'tap';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PARTITIONINGS } from '../../src/policy/partition.ts';
import { temporaryFolder } from '../kit/nats-server.ts';
import { installTrawl } from '../kit/trawl.ts';

const trawl = await installTrawl(t);
const HOSTS = 40;

t.test('every way of splitting keeps every task, and no host is split', { timeout: 60_000 }, async (t) => {
  const file = join(temporaryFolder(t), 'urls.txt');
  const lines = Array.from({ length: 400 }, (_, n) => `https://www.site-${n % HOSTS}.example/page/${n}`);
  writeFileSync(file, `# a comment\n\n${lines.join('\n')}\n{"url":"https://www.site-1.example/json"}\n`);
  for (const by of PARTITIONINGS) {
    const { code, stdout, stderr } = await trawl.run('split', file, '--shards', '4', '--by', by, '--json');
    t.equal(code, 0, `${by}: ${stderr}`);
    const { parts } = JSON.parse(stdout) as { parts: { file: string; hosts: number; tasks: number }[] };
    const contents = parts.map((part) => readFileSync(part.file, 'utf8').split('\n').slice(0, -1));
    t.same(
      contents.flat().sort(),
      [...lines, '{"url":"https://www.site-1.example/json"}'].sort(),
      `${by}: all tasks, each once`,
    );
    const hosts = contents.map((part) => new Set(part.map((line) => /site-\d+/.exec(line)?.[0])));
    t.equal(
      hosts.reduce((sum, { size }) => sum + size, 0),
      HOSTS,
      `${by}: each host in one part`,
    );
    t.same(
      parts.map(({ tasks }) => tasks),
      contents.map(({ length }) => length),
    );
    if (by === 'balanced') t.ok(Math.max(...parts.map(({ tasks }) => tasks)) <= 101, 'about as many each');
  }
});

t.test('lines without a URL are in no part, and told; mistakes get words', async (t) => {
  const file = join(temporaryFolder(t), 'urls.txt');
  writeFileSync(file, 'https://a.example/\nnot a url\n{"key":"no url"}\n{broken\n');
  const bad = await trawl.run('split', file, '--shards', '2');
  t.equal(bad.code, 1);
  t.match(bad.stdout, /in no part, because they have no URL: line 2, 3, 4\n/);
  t.match(await trawl.run('split', file, '--shards', '0'), { code: 2, stderr: /--shards must be/ });
  t.match(await trawl.run('split', `${file}.gone`, '--shards', '2'), { code: 2, stderr: /cannot be read/ });
});
