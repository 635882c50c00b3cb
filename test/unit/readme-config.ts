import t from 'tap';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settings } from '../../src/config/catalogue.ts';
import { renderConfigTable, replaceConfigTable } from '../../src/config/readme-table.ts';
import { projectRoot } from '../../src/project-root.ts';

t.test('the README shows the settings as they are', async (t) => {
  const readme = readFileSync(join(projectRoot, 'README.md'), 'utf8');
  t.equal(readme, replaceConfigTable(readme), 'run `make docs`');
});

t.test('the table has one row for each setting, with as many cells as its head', async (t) => {
  const lines = renderConfigTable().trimEnd().split('\n');
  t.equal(lines.length, 2 + settings.length);
  for (const line of lines) t.equal(line.split(/(?<!\\)\|/).length, 7, line);
  t.ok(
    lines.some((line) =>
      line.startsWith('| `actor.id` |  | `TRAWL_ACTOR_ID`, `WORKER_ID` | `--id` | Name of this actor'),
    ),
  );
});

t.test('the table replaces what stands between the marks, and nothing else', async (t) => {
  const made = replaceConfigTable('before\n<!-- config:begin -->\nold\n<!-- config:end -->\nafter\n');
  t.equal(made, `before\n<!-- config:begin -->\n\n${renderConfigTable()}\n<!-- config:end -->\nafter\n`);
  t.equal(replaceConfigTable(made), made, 'twice is as good as once');
  for (const readme of ['', '<!-- config:begin -->', '<!-- config:end -->\n<!-- config:begin -->'])
    t.throws(() => replaceConfigTable(readme), { code: 'INVALID', hint: /config:begin/ });
});
