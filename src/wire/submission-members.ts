/** The bytes of one message → the tasks in it, each still unread. */
import { isUtf8 } from 'node:buffer';
import { Failure } from '../domain/failure.ts';
import { msgpackMembers } from './submission-msgpack.ts';
import { textMembers } from './submission-text.ts';

export interface Members {
  readonly count: number;
  /** The value of one member; throws `INVALID` when this one cannot be read, whatever its neighbours are. */
  read(index: number): unknown;
  /** The bytes it came from. */
  bytes(index: number): Uint8Array;
}

/** Throws `INVALID` when the message as a whole cannot be read. */
export function readMembers(data: Uint8Array): Members {
  const members = membersOf(data);
  if (members.count === 0) throw new Failure('INVALID', 'the message is empty: there is no task in it');
  return members;
}

function membersOf(data: Uint8Array): Members {
  const first = data[0];
  // As msgpack these are small numbers, which are no task; as text, everything that one can begin with.
  if (first === undefined || first < 0x80 || startsWithBom(data)) return textMembers(data);
  try {
    return msgpackMembers(data);
  } catch (error) {
    // A text may begin with a letter outside ASCII. It holds no task there, but perhaps on its next line.
    if (isUtf8(data)) return textMembers(data);
    throw error;
  }
}

function startsWithBom(data: Uint8Array): boolean {
  return data[0] === 0xef && data[1] === 0xbb && data[2] === 0xbf;
}
