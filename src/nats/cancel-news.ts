/** What nobody wants any more, told to every worker at once. Only news: what is stored decides. */
import { decode, encodeJson } from '../wire/codec.ts';
import type { Names } from '../wire/names.ts';
import type { Connection } from './connect.ts';

/** A run, or one task of it. */
export interface Cancelled {
  readonly run: string;
  readonly id?: string | undefined;
}

export function tellCancelled({ nc }: Connection, names: Names, what: Cancelled): void {
  nc.publish(names.broadcast('cancel'), encodeJson(what));
}

/** Calls back with each; returns the undo. */
export function hearCancelled(
  { nc }: Connection,
  names: Names,
  listener: (what: Cancelled) => void,
): () => void {
  const subscription = nc.subscribe(names.broadcast('cancel'), {
    callback: (error, message) => {
      if (!error) listener(decode(message.data) as Cancelled);
    },
  });
  return () => subscription.unsubscribe();
}
