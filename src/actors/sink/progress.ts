/** How far a sink is, and what the cluster knows of it: told at once where a crash would lose it, else now and then. */
import { AT_THE_START, type Checkpoint, type SinkLife, type SinkRecord } from '../../domain/sink.ts';
import { Failure, messageOf } from '../../domain/failure.ts';
import type { Rejected } from '../../sinks/row.ts';
import type { SinkPorts, SinkTerm } from './ports.ts';

/** What is delivered of a batch whose rest has failed so far. */
export interface Partial {
  readonly through: number;
  readonly rows: number;
  readonly rejected: readonly Rejected[];
}

export interface Progress {
  /** Kept in this process alone: after a crash the batch comes again as a whole. */
  partial: Partial | undefined;
  checkpoint(): Checkpoint;
  /** From here on it is about this ledger. In one that it does not know it is at the start: then it says so. */
  enter(ledger: string): { readonly life: SinkLife; readonly isNew: boolean };
  set(checkpoint: Checkpoint): void;
  /** A batch was delivered. */
  advance(checkpoint: Checkpoint, options: { readonly atOnce: boolean }): Promise<void>;
  /** Stores what is not stored yet. */
  save(): Promise<void>;
  tellError(message: string): Promise<void>;
  /** Whether anything was delivered since it was last asked. */
  takeDelivered(): boolean;
  replay(): string | undefined;
  /** Calls when there is a new wish to start over; returns the undo. */
  onReplay(call: () => void): () => void;
}

const TELL_EVERY_MS = 1_000;

export async function createProgress(term: SinkTerm, ports: SinkPorts): Promise<Progress> {
  const { about, log, now } = ports;
  const known = await term.load();
  if (known && known.identity !== about.identity) throw refuseOtherSink(about.name);
  let checkpoint = known?.checkpoint ?? AT_THE_START;
  let error: SinkRecord['error'];
  let told = known === undefined ? '' : textOf(checkpoint, known.error);
  let toldAt = 0;
  let delivered = false;
  let saving: Promise<unknown> = Promise.resolve();
  let later: NodeJS.Timeout | undefined;
  let replay: string | undefined;
  const listeners = new Set<() => void>();
  await term.watchReplays((token) => {
    if (token === replay) return;
    replay = token;
    for (const listener of listeners) listener();
  });

  return {
    partial: undefined,
    checkpoint: () => checkpoint,
    set: (next) => void (checkpoint = next),
    enter(ledger) {
      const before = checkpoint.life;
      if (before?.ledger === ledger) return { life: before, isNew: false };
      const life = { ledger, sink: createToken(ports.random()) };
      const { replayed } = checkpoint;
      checkpoint = before ? { ...AT_THE_START, replayed, life } : { ...checkpoint, life };
      return { life, isNew: before !== undefined };
    },
    async advance(next, { atOnce }) {
      checkpoint = next;
      delivered = true;
      const mended = error !== undefined;
      error = undefined;
      if (atOnce || mended || now() - toldAt >= TELL_EVERY_MS) await save();
      else later ??= setTimeout(() => void saveQuietly(), TELL_EVERY_MS);
    },
    save,
    async tellError(message) {
      error = { at: now(), message };
      // The trouble may be that nobody can be told.
      await saveQuietly();
    },
    takeDelivered() {
      const before = delivered;
      delivered = false;
      return before;
    },
    replay: () => replay,
    onReplay(call) {
      listeners.add(call);
      return () => listeners.delete(call);
    },
  };

  /** One after the other. */
  function save(): Promise<void> {
    clearTimeout(later);
    later = undefined;
    const saved = saving.then(saveNow);
    saving = saved.catch(() => undefined);
    return saved;
  }

  async function saveQuietly(): Promise<void> {
    await save().catch((cause: unknown) => log.debug('sink.unsaved', { reason: messageOf(cause) }));
  }

  async function saveNow(): Promise<void> {
    const text = textOf(checkpoint, error);
    if (text === told) return;
    await term.save({ ...about, checkpoint, updatedAt: now(), error });
    told = text;
    toldAt = now();
  }
}

function createToken(random: number): string {
  return Math.floor(random * 2 ** 48)
    .toString(16)
    .padStart(12, '0');
}

function textOf(checkpoint: Checkpoint, error: SinkRecord['error']): string {
  return JSON.stringify([checkpoint, error]);
}

/** A position of one sink means nothing to another. */
function refuseOtherSink(name: string): Failure {
  return new Failure('INVALID', `there is a sink ${name} already, with another target or other filters`, {
    hint: `Give this one another name, or forget the old one with \`trawl sinks rm ${name}\`.`,
  });
}
