/** Takes what waits of a run, or of one task, out of the queue; of a run also out of the intake. */
import type { Names } from '../wire/names.ts';
import type { Cancelled } from './cancel-news.ts';
import type { Connection } from './connect.ts';

export async function purgeWork({ jsm }: Connection, names: Names, { run, id }: Cancelled): Promise<void> {
  const tasks = names.stream('TASKS');
  const anyTask = id ?? '*';
  for (const filter of names.ready({ run, id: anyTask })) await jsm.streams.purge(tasks, { filter });
  await jsm.streams.purge(tasks, { filter: names.delay({ run, id: anyTask }) });
  await jsm.streams.purge(tasks, { filter: names.parked({ run, id: anyTask }) });
  if (id === undefined) await jsm.streams.purge(names.stream('INTAKE'), { filter: names.submit('*', run) });
}
