/** `trawl schedule apply`, as a child process, with a real coordinator. */
import t from 'tap';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/project-root.ts';
import { temporaryFolder } from '../kit/nats-server.ts';
import { startSmallCluster } from '../kit/small-cluster.ts';
import { installTrawl } from '../kit/trawl.ts';

interface Answer {
  readonly problems: number;
  readonly schedules: { name: string; line: number; change?: string; problems?: string[] }[];
}

const cluster = await startSmallCluster(t);
await cluster.start('coordinator', 'c1');
const trawl = await installTrawl(t, { NATS_URL: cluster.server.url });
const folder = temporaryFolder(t);
const example = join(projectRoot, 'config/examples/dmarket/schedules.yaml');
const changes = ({ schedules }: Answer): (string | undefined)[] => schedules.map(({ change }) => change);
const list = (): Promise<{ schedules: Record<string, unknown>[] }> => cluster.call('schedule.list', {});
const runs = async (): Promise<number> => {
  const found = await cluster.call<{ runs: object[] }>('run.list', { scraper: 'dmarket' });
  return found.runs.length;
};

t.test('the example: planned, made, and then left alone', async (t) => {
  const apply = (...flags: string[]): Promise<Answer> =>
    trawl.json<Answer>('schedule', 'apply', example, ...flags);
  t.same(changes(await apply('--dry-run')), ['created', 'created', 'created']);
  t.same((await list()).schedules, [], 'nothing was done');
  t.same(changes(await apply()), ['created', 'created', 'created']);
  const made = (await list()).schedules;
  t.match(made, [
    { name: 'dmarket-730', every: '4200s', priority: 2 },
    { name: 'dmarket-9a92', every: '3900s', priority: 1 },
    { name: 'dmarket-a8db', every: '3600s', priority: 0 },
  ]);
  t.equal(await runs(), 3, 'each has its first run');
  await cluster.call('schedule.pause', { name: 'dmarket-730' });
  t.same(changes(await apply()), ['unchanged', 'unchanged', 'unchanged']);
  t.equal(await runs(), 3, 'no second one');
  t.match((await list()).schedules[0], { name: 'dmarket-730', paused: true });
  t.equal((await list()).schedules[1]?.['nextAt'], made[1]?.['nextAt'], 'its times are its own');
});

t.test('one that is wrong is named with its line, and stops no other', async (t) => {
  const file = join(folder, 'mixed.yaml');
  writeFileSync(
    file,
    [
      'schedules:',
      '  - { name: good, scraper: s, every: 1h }',
      '  - name: bad',
      '    scraper: s',
      '    every: often',
      '    colour: red',
      '  - { name: good, scraper: s, every: 2h }',
      '  - { name: dmarket-730, scraper: dmarket, every: 2h }',
      '  - { name: large, scraper: s, every: 1h, params: { text: ' + 'x'.repeat(300_000) + ' } }',
    ].join('\n'),
  );
  const answer = await trawl.run('schedule', 'apply', file, '--json');
  t.equal(answer.code, 2);
  const told = JSON.parse(answer.stdout) as Answer;
  t.equal(told.problems, 3);
  t.match(told.schedules, [
    { name: 'good', line: 2, change: 'created' },
    { name: 'bad', line: 3, problems: [/colour/, /often/] },
    { name: 'good', line: 7, problems: ['good stands on line 2 already'] },
    { name: 'dmarket-730', line: 8, change: 'updated' },
    { name: 'large', line: 9, problems: [/262144/] },
  ]);
  t.match((await list()).schedules[0], { name: 'dmarket-730', every: '2h', paused: true }, 'still paused');
  t.equal(await runs(), 3, 'a change is no firing');
  const text = await trawl.run('schedule', 'apply', file, '--dry-run');
  t.equal(text.code, 2);
  t.match(text.stdout, /good +2 +unchanged/);
  t.match(text.stdout, /mixed\.yaml, line 3 \(bad\): .*often/);
});

t.test('no file, and a file that is none', async (t) => {
  const missing = await trawl.run('schedule', 'apply', join(folder, 'nothing.yaml'));
  t.match(missing, { code: 2, stderr: /nothing\.yaml cannot be read/ });
  t.match(await trawl.run('schedule', 'apply'), { code: 2, stderr: /name is missing/ });
  const file = join(folder, 'broken.yaml');
  writeFileSync(file, 'schedules:\n  - name: a\n    every: [1\n');
  t.match(await trawl.run('schedule', 'apply', file), { code: 2, stderr: /line \d+: / });
});
