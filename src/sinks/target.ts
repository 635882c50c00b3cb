/** What a sink writes to. One session: open, then write and commit batch by batch, then close. */
import type { Checkpoint } from '../domain/sink.ts';
import type { Beginning, SinkStart } from '../policy/sink-start.ts';
import type { ChunkLimits, Rejected, SinkRow } from './row.ts';

export interface SinkTarget {
  /** How much one `write` takes. */
  readonly limits: ChunkLimits;
  /**
   * What keeps it from taking a batch twice. `itself`: it remembers its position. `keys`: the same row again changes
   * nothing. `batches`: the other side knows a batch by its name, so that a batch must come again as it was.
   * `nothing`: what was under way at a crash comes again.
   */
  readonly remembers: 'itself' | 'keys' | 'batches' | 'nothing';
  /** Where it stands, if it remembers that itself; what was written after the last commit is undone. */
  open(beginning: Beginning): Promise<SinkStart | undefined>;
  /** Throws REJECTED when these rows, as they are, will never be taken; any other failure says that it is down. */
  write(rows: readonly SinkRow[], context: WriteContext): Promise<void>;
  /** Puts aside what was refused; the same again changes nothing. */
  putAside(rejected: readonly Rejected[]): Promise<void>;
  /** From here on a crash neither loses nor doubles what was written. */
  commit(checkpoint: Checkpoint): Promise<void>;
  /** Makes room for everything to come again from there on; what is moved out of the way is named for the replay. */
  startOver(checkpoint: Checkpoint, replay: string): Promise<void>;
  close(): Promise<void>;
}

export interface WriteContext {
  readonly signal: AbortSignal;
  /** Of the sink. */
  readonly life: string | undefined;
  readonly replayed: string | undefined;
}
