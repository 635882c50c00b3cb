/** The benches: that one runs in its quick form, without the programs of others, and says what it promises to say. */
import t from 'tap';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/project-root.ts';
import { replaceSection } from '../bench/harness/results-file.ts';
import type { Report } from '../bench/harness/report.ts';
import type { Row } from '../bench/harness/rounds.ts';
import { natsServerPath, temporaryFolder } from '../kit/nats-server.ts';

t.test(
  'the bench of the queue runs, and its JSON has all that was promised',
  { timeout: 60_000 },
  async (t) => {
    const file = join(temporaryFolder(t), 'queue.json');
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(projectRoot, 'dist/test/bench/queue.js'), '--quick', '--json', file],
      {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], NATS_SERVER: natsServerPath(), PEERS: 'no' },
      },
    );
    t.equal(status, 0, stderr);
    t.match(stdout, /no-op tasks, end to end/);
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
    t.match(report, {
      what: 'queue',
      quick: true,
      rounds: 1,
      machine: { cores: Number, node: process.version, loadAverage: String },
      versions: { 'nats-server': /^\d/ },
      settings: { trawl: String, bullmq: String },
    });
    t.match(
      report.absent,
      [/^bullmq/, /^graphile-worker/, /^pg-boss/, /^bee-queue/],
      'who is missing is named',
    );
    t.match(report.checks, [
      /streams and consumers as shipped/,
      /all settings as shipped/,
      /exactly one outcome/,
    ]);
    t.ok(
      report.targets.every(({ met }) => met === undefined),
      'a quick run judges nothing',
    );
    const rows = report.rows as readonly (Row & { readonly work: string })[];
    for (const work of ['end to end', 'processing'])
      for (const contestant of ['trawl, 1 s', 'trawl, always'])
        t.match(
          rows.find((row) => row.work === work && row.contestant === contestant),
          {
            ...{ round: 1, count: 500, ms: Number, clientCpuUs: Number, serverCpuUs: Number },
            ...{ clientMb: Number, serverMb: Number },
          },
        );
  },
);

t.test('a bench replaces its own section of the results, and no other', async (t) => {
  const first = replaceSection('# Results\n', 'queue', 'one');
  const both = replaceSection(first, 'fetch', 'two');
  const again = replaceSection(both, 'queue', 'three');
  t.equal(
    again,
    '# Results\n\n<!-- bench: queue -->\n\nthree\n\n<!-- end: queue -->\n\n<!-- bench: fetch -->\n\ntwo\n\n<!-- end: fetch -->\n',
  );
});
