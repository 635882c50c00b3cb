import t from 'tap';
import { renderCsvLine, stringifyPlain } from '../../src/sinks/csv.ts';
import { createRowWriter, isWanted } from '../../src/cli/result-rows.ts';
import type { TaskOutcome } from '../../src/client/results.ts';

const AT = '1970-01-01T00:00:00.000Z';

const outcome = (fields: Partial<TaskOutcome>): TaskOutcome => ({
  ...{ id: 't1', run: 'r', scraper: 's', state: 'done', at: 0, items: [], faults: [] },
  ...fields,
});

t.test('cells are quoted where RFC 4180 wants it, and left alone otherwise', async (t) => {
  const table: [unknown, string][] = [
    ['plain', 'plain'],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['cr\r', '"cr\r"'],
    [' blank ', '" blank "'],
    ['=1+1', '=1+1'],
    [undefined, ''],
    [null, ''],
    [0, '0'],
    [false, 'false'],
    [{ a: [1] }, '"{""a"":[1]}"'],
    [12n, '12'],
  ];
  for (const [cell, text] of table) t.equal(renderCsvLine([cell]), `${text}\r\n`);
  t.equal(renderCsvLine(['a', 1, '']), 'a,1,\r\n');
});

t.test('what JSON has not becomes text', async (t) => {
  t.equal(
    stringifyPlain({ b: Buffer.from('hi'), u: new Uint8Array([1]), n: 2n }),
    '{"b":"aGk=","u":"AQ==","n":"2"}',
  );
  t.equal(stringifyPlain(new Date(0)), '"1970-01-01T00:00:00.000Z"');
});

t.test('the columns are the fields of the first item', async (t) => {
  const rows = createRowWriter('csv', 'done');
  t.equal(rows.write(outcome({})), '', 'no item, no line');
  t.equal(
    rows.write(outcome({ items: [{ a: 1, b: 2 }] })),
    `task_id,task_url,task_at,a,b\r\nt1,,${AT},1,2\r\n`,
  );
  t.equal(rows.remark(), undefined);
  t.equal(rows.write(outcome({ url: 'u', items: [{ b: 3, c: 4 }, 5] })), `t1,u,${AT},,3\r\nt1,u,${AT},,\r\n`);
  t.match(rows.remark(), /2 items have fields that the first one lacks \(c, value\)/);
  t.equal(
    createRowWriter('csv', 'done').write(outcome({ items: ['x'] })),
    `task_id,task_url,task_at,value\r\nt1,,${AT},x\r\n`,
  );
});

t.test('outcomes of all kinds in one table', async (t) => {
  const rows = createRowWriter('csv', 'all');
  const error = { code: 'TIMEOUT', message: 'slow' };
  t.equal(
    rows.write(outcome({ state: 'dead', error })),
    `task_id,state,task_url,task_at,error_code,error,item\r\nt1,dead,,${AT},TIMEOUT,slow,\r\n`,
  );
  t.equal(rows.write(outcome({ items: [{ a: 1 }] })), `t1,done,,${AT},,,"{""a"":1}"\r\n`);
});

t.test('lines of JSON', async (t) => {
  const write = (wanted: 'done' | 'all', given: Partial<TaskOutcome>): string =>
    createRowWriter('ndjson', wanted).write(outcome(given));
  t.equal(write('done', {}), '');
  t.equal(write('all', {}), `{"task":"t1","run":"r","state":"done","at":"${AT}"}\n`);
  t.equal(write('done', { data: 3 }), `{"task":"t1","run":"r","state":"done","at":"${AT}","data":3}\n`);
  t.equal(write('done', { items: [1, 2] }).split('\n').length, 3);
  t.ok(isWanted(outcome({ state: 'cancelled' }), 'all'));
  t.notOk(isWanted(outcome({ state: 'dead' }), 'done'));
});
