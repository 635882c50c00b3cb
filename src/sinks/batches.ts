/** Groups what comes, so that one commit is worth its while: a batch ends when it is full, or when nothing comes for a moment. */
export interface BatchLimits {
  readonly entries: number;
  readonly bytes: number;
  readonly lingerMs: number;
}

export interface Batched {
  readonly seq: number;
  readonly bytes: number;
}

const UNENDING = 2 ** 53;

/**
 * With `through`, the first batch ends exactly with that sequence, also if it is larger or smaller than others: what was
 * sent once is sent again as it was. Of that batch some may be gone meanwhile, so it waits no longer than
 * `patienceMs` for the rest.
 */
export async function* inBatches<T extends Batched>(
  source: AsyncIterator<T>,
  limits: BatchLimits,
  first?: { readonly through: number; readonly patienceMs: number },
): AsyncGenerator<T[], void, undefined> {
  let next = take(source);
  const state = { ended: false };
  const head = first
    ? await collect({ through: first.through, waitMs: first.patienceMs, full: UNENDING })
    : [];
  if (head.length > 0) yield head;
  while (!state.ended) {
    const batch = await collect({ through: UNENDING, waitMs: limits.lingerMs, full: limits.entries });
    if (batch.length > 0) yield batch;
  }

  /** The wait begins with the first entry; where a batch must be complete, at once. */
  async function collect(want: { through: number; waitMs: number; full: number }): Promise<T[]> {
    const batch: T[] = [];
    let bytes = 0;
    let timer: NodeJS.Timeout | undefined;
    let late: Promise<'late'> | undefined;
    const startTimer = (): void => {
      late ??= new Promise((resolve) => (timer = setTimeout(resolve, want.waitMs, 'late')));
    };
    if (want.full === UNENDING) startTimer();
    try {
      for (;;) {
        const got = await (late ? Promise.race([next, late]) : next);
        if (got === 'late') return batch;
        if (got.done === true) {
          state.ended = true;
          return batch;
        }
        if (got.value.seq > want.through) return batch;
        batch.push(got.value);
        bytes += got.value.bytes;
        next = take(source);
        if (got.value.seq === want.through) return batch;
        if (want.full !== UNENDING && (batch.length >= want.full || bytes >= limits.bytes)) return batch;
        startTimer();
      }
    } finally {
      clearTimeout(timer);
    }
  }
}

/** It is asked for ahead of time: a failure is heard when its turn comes. */
function take<T>(source: AsyncIterator<T>): Promise<IteratorResult<T, unknown>> {
  const next = source.next();
  next.catch(() => undefined);
  return next;
}
