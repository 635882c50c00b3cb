/** When `count` outcomes are stored, and when the first handler began: epoch ms with fractions, the same for all processes. */
export const now = () => performance.timeOrigin + performance.now();

export function createCounter(count) {
  let firstAt = 0;
  let stored = 0;
  let resolve;
  const all = new Promise((done) => (resolve = done));
  return {
    all,
    began() {
      if (firstAt === 0) firstAt = now();
    },
    settled(some = 1) {
      stored += some;
      if (stored >= count) resolve();
    },
    times: () => ({ firstAt, lastAt: now() }),
  };
}

/** When single tasks began: the question may come before the task, or after it. */
export function createProbes() {
  const began = new Map();
  const entry = (id) => {
    if (!began.has(id)) began.set(id, withResolvers());
    return began.get(id);
  };
  return { began: (id) => entry(id).resolve(now()), startedAt: ({ id }) => entry(id).promise };
}

function withResolvers() {
  let resolve;
  const promise = new Promise((done) => (resolve = done));
  return { promise, resolve };
}

export function* urls(from, count, host = 'shop.example') {
  for (let n = from; n < from + count; n += 1) yield `https://${host}/item/${n}`;
}

/** Hands out chunks to a few askers at a time. */
export async function inChunks(items, size, atOnce, send) {
  const source = items[Symbol.iterator]();
  const next = () => {
    const chunk = [];
    for (let item = source.next(); !item.done; item = source.next()) {
      chunk.push(item.value);
      if (chunk.length === size) break;
    }
    return chunk;
  };
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let chunk = next(); chunk.length > 0; chunk = next()) await send(chunk);
    }),
  );
}
