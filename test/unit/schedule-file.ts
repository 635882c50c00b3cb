import t from 'tap';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseScheduleFile } from '../../src/config/schedule-file.ts';
import { parseSchedule } from '../../src/policy/schedule-spec.ts';
import { projectRoot } from '../../src/project-root.ts';

t.test('the example has three games, each at an interval of its own', async (t) => {
  const file = parseScheduleFile(
    readFileSync(join(projectRoot, 'config/examples/dmarket/schedules.yaml'), 'utf8'),
  );
  if (!file.ok) throw new Error(JSON.stringify(file.problems));
  t.same(
    file.entries.map(({ line }) => line),
    [4, 10, 16],
  );
  const specs = file.entries.map(({ definition }) => {
    const parsed = parseSchedule(definition, 0);
    if (!parsed.ok) throw new Error(parsed.problems.join());
    return parsed.spec;
  });
  t.same(
    specs.map(({ timing }) => timing.kind === 'every' && timing.everyMs),
    [3_600_000, 3_900_000, 4_200_000],
  );
  t.same(
    specs.map(({ priority }) => priority),
    [0, 1, 2],
  );
});

t.test('a list alone will do, and odd entries are entries', async (t) => {
  t.same(parseScheduleFile('- name: a\n- 7\n-\n- name: b\n  every: 1h\n'), {
    ok: true,
    entries: [
      { line: 1, definition: { name: 'a' } },
      { line: 2, definition: 7 },
      { line: 3, definition: null },
      { line: 4, definition: { name: 'b', every: '1h' } },
    ],
  });
  t.same(parseScheduleFile('schedules: []'), { ok: true, entries: [] });
});

t.test('what is no list is told with its line', async (t) => {
  for (const text of ['', 'schedules: 7', 'other: []', 'just words'])
    t.match(parseScheduleFile(text), { ok: false, problems: [{ line: 1, problem: /no list/ }] }, text);
  t.match(parseScheduleFile('schedules:\n  - name: a\n    every: [1\n'), {
    ok: false,
    problems: [{ line: Number }],
  });
});
