/**
 * Whether anything is left to do: not yet taken in, ready, in somebody's hand, or waiting for its time. Of one scraper:
 * what is ready of others is left to others; of what is not ready yet nobody knows whose it is.
 */
import type { Names } from '../wire/names.ts';
import type { Connection } from './connect.ts';
import { hasMessage } from './has-message.ts';

/** A work queue keeps a task until it is acknowledged, so an empty queue means that nobody has one in hand either. */
export async function isNothingLeft(
  connection: Connection,
  names: Names,
  { run, scraper }: { readonly run?: string | undefined; readonly scraper?: string | undefined },
): Promise<boolean> {
  const any = run ?? '*';
  const intake = {
    stream: names.stream('INTAKE'),
    subject: names.submit(run === undefined ? '>' : '*', run),
  };
  const delayed = { stream: names.stream('TASKS'), subject: names.delay({ run: any, id: '*' }) };
  const parked = { stream: names.stream('TASKS'), subject: names.parked({ run: any, id: '*' }) };
  const ready = names
    .ready({ run: any, id: '*', scraper })
    .map((subject) => ({ stream: names.stream('TASKS'), subject }));
  // In the order in which a task moves, so that one that moves meanwhile is met: from a hand it may go back to wait.
  for (const place of [intake, delayed, parked, ...ready, delayed, parked])
    if (await hasMessage(connection, place)) return false;
  return true;
}
