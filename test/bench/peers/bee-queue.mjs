/** bee-queue: jobs saved in bulk, many slots, succeeded jobs kept, no events to other processes. */
import Queue from 'bee-queue';
import { createCounter, inChunks, urls } from './counting.mjs';

export async function open({ port }) {
  const settings = {
    redis: { host: '127.0.0.1', port },
    getEvents: false,
    sendEvents: false,
    removeOnSuccess: false,
  };
  const queues = new Map();
  const queueOf = (name) => {
    if (!queues.has(name)) queues.set(name, new Queue(name, { ...settings, isWorker: false }));
    return queues.get(name);
  };
  let worker;
  let counter;
  return {
    async produce({ queue, from = 0, count }) {
      const producer = queueOf(queue);
      await inChunks(urls(from, count), 1_000, 4, async (chunk) => {
        const failed = await producer.saveAll(chunk.map((url) => producer.createJob({ url })));
        if (failed.size > 0) throw new Error('bee-queue did not save a job');
      });
    },
    async start({ queue, count }) {
      counter = createCounter(count);
      worker = new Queue(queue, settings);
      await worker.ready();
      worker.on('succeeded', () => counter.settled());
      worker.process(100, async () => counter.began());
    },
    async finish() {
      await counter.all;
      const times = counter.times();
      await worker.close();
      return times;
    },
    async check({ queue }) {
      const { succeeded, failed, waiting, active, delayed } = await queueOf(queue).checkHealth();
      return { done: succeeded, dead: failed, open: waiting + active + delayed };
    },
    async clear({ queue }) {
      await queueOf(queue).destroy();
    },
  };
}
