/**
 * A command that is told to end before it is done: by a signal that nobody else heeds, or because nobody reads what it
 * says. It says its goodbyes first, so that nothing it made for itself is left on the server.
 */
const CODE_OF_SIGNAL = { SIGINT: 130, SIGTERM: 143 } as const;

/** Long enough for what ends by itself. */
const LEFT_OPEN_MS = 500;

type Signal = keyof typeof CODE_OF_SIGNAL;
const SIGNALS = Object.keys(CODE_OF_SIGNAL) as Signal[];

const goodbyes = new Set<() => Promise<void>>();
let leaving = false;

/** To be said when the process leaves early; returns the undo. */
export function onLeaving(goodbye: () => Promise<void>): () => void {
  if (goodbyes.size === 0) for (const signal of SIGNALS) process.on(signal, hear);
  goodbyes.add(goodbye);
  return () => {
    goodbyes.delete(goodbye);
    if (goodbyes.size === 0) for (const signal of SIGNALS) process.off(signal, hear);
  };
}

/** What fails from now on is nobody's concern. */
export function isLeaving(): boolean {
  return leaving;
}

/** Ends the process. */
export async function leave(code: number): Promise<void> {
  if (leaving) return;
  leaving = true;
  await Promise.allSettled([...goodbyes].map((goodbye) => goodbye()));
  process.exit(code);
}

/**
 * The command is over. What a scraper has opened and never closed would keep the process; what has been said is read to
 * its end first.
 */
export async function leaveNothingBehind(): Promise<void> {
  await Promise.all(
    [process.stdout, process.stderr].map(
      (stream) => new Promise<void>((resolve) => stream.write('', () => resolve())),
    ),
  );
  setTimeout(() => process.exit(), LEFT_OPEN_MS).unref();
}

function hear(signal: Signal): void {
  // A command that stops in order listens too.
  if (process.listenerCount(signal) > 1) return;
  // Whoever asks twice does not want to wait.
  if (leaving) process.exit(CODE_OF_SIGNAL[signal]);
  void leave(CODE_OF_SIGNAL[signal]);
}
