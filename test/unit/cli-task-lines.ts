import t from 'tap';
import { openTaskFile, tasksIn } from '../../src/cli/task-lines.ts';
import { packTasks, type Task } from '../../src/client/pack-tasks.ts';

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array, void, undefined> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, size: number): Promise<unknown[]> {
  const tasks: unknown[] = [];
  for await (const task of tasksIn(pieces(text, size), 'list')) tasks.push(task);
  return tasks;
}

t.test('lines, however the bytes arrive', async (t) => {
  const text = '\uFEFFhttps://a.example/ä\r\n\n   \n# none\n {"url":"u","n":1}\n{broken\nlast';
  const wanted = ['https://a.example/ä', { url: 'u', n: 1 }, '{broken', 'last'];
  for (const size of [1, 2, 3, 7, 1_000]) t.same(await read(text, size), wanted, `${size} bytes at a time`);
  t.same(await read('', 10), []);
  t.same(await read('a\n', 10), ['a']);
});

t.test('a file without line ends is refused before it fills the memory', async (t) => {
  await t.rejects(read(`a\n${'x'.repeat(3_000_000)}`, 100_000), {
    code: 'INVALID',
    message: /^line 2 of list/,
  });
});

t.test('files that cannot be', async (t) => {
  t.throws(() => openTaskFile('/nowhere/at/all'), { code: 'INVALID', message: /cannot be read: ENOENT/ });
  t.throws(() => openTaskFile('/'), { code: 'INVALID', message: '/ is a folder, not a file' });
});

async function pack(tasks: Task[], limits: { tasksMax: number; bytesMax: number }): Promise<string[]> {
  const chunks: string[] = [];
  for await (const { payload } of packTasks(tasks, { ...limits, taskMaxBytes: 1_000 }))
    chunks.push(Buffer.from(payload).toString());
  return chunks;
}

t.test('chunks hold as many tasks as fit', async (t) => {
  t.same(await pack([], { tasksMax: 2, bytesMax: 100 }), []);
  const urls = ['http://a/1', 'http://a/2', 'http://a/3'];
  t.same(await pack(urls, { tasksMax: 2, bytesMax: 100 }), ['http://a/1\nhttp://a/2', 'http://a/3']);
  t.same(
    await pack(urls, { tasksMax: 9, bytesMax: 21 }),
    ['http://a/1\nhttp://a/2', 'http://a/3'],
    'by bytes',
  );
  t.same(await pack(urls, { tasksMax: 9, bytesMax: 20 }), urls, 'one byte less');
});

t.test('what is no plain URL is quoted, so that it cannot change how its neighbours are read', async (t) => {
  const tasks: Task[] = ['[odd', 'two\nlines', { url: 'u' }, '{broken'];
  t.same(await pack(tasks, { tasksMax: 9, bytesMax: 900 }), [
    '"[odd"\n"two\\nlines"\n{"url":"u"}\n"{broken"',
  ]);
});

t.test('what cannot be sent is named', async (t) => {
  const limits = { tasksMax: 9, bytesMax: 50 };
  await t.rejects(pack(['http://a/', `http://a/${'x'.repeat(60)}`], limits), {
    code: 'INVALID',
    message: /^task 2 \(http:\/\/a\/x+\) has 69 bytes: at most 50$/,
  });
  await t.rejects(pack([{ n: 1n }], limits), { code: 'INVALID', message: /^task 1 cannot be sent/ });
});
