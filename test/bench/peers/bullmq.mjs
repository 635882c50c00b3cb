/** BullMQ: jobs added in bulk, a worker with many slots, completed jobs kept, as they are by default. */
import { Queue, Worker } from 'bullmq';
import { createCounter, createProbes, inChunks, now, urls } from './counting.mjs';

export async function open({ port, concurrency = 100 }) {
  const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null };
  const queues = new Map();
  const queueOf = (name) => {
    if (!queues.has(name)) queues.set(name, new Queue(name, { connection }));
    return queues.get(name);
  };
  let worker;
  let counter;
  const probes = createProbes();
  return {
    async produce({ queue, from = 0, count, priority }) {
      const opts = priority === undefined ? undefined : { priority };
      await inChunks(urls(from, count), 1_000, 4, (chunk) =>
        queueOf(queue).addBulk(chunk.map((url) => ({ name: 'noop', data: { url }, opts }))),
      );
    },
    async probe({ queue, id, priority }) {
      const sentAt = now();
      await queueOf(queue).add('probe', { probe: id }, { priority });
      return sentAt;
    },
    async start({ queue, count, slowMs }) {
      counter = createCounter(count);
      const noop = async () => counter.began();
      const slow = (job) => {
        if (job.data.probe !== undefined) return void probes.began(job.data.probe);
        return new Promise((resolve) => setTimeout(resolve, slowMs));
      };
      worker = new Worker(queue, slowMs === undefined ? noop : slow, { connection, concurrency });
      worker.on('completed', () => counter.settled());
      await worker.waitUntilReady();
    },
    startedAt: probes.startedAt,
    async finish() {
      await counter.all;
      const times = counter.times();
      await worker.close();
      return times;
    },
    async stop() {
      await worker.close(true);
    },
    async check({ queue }) {
      const { completed, failed, ...left } = await queueOf(queue).getJobCounts();
      return { done: completed, dead: failed, open: Object.values(left).reduce((sum, n) => sum + n, 0) };
    },
    async clear({ queue }) {
      await queueOf(queue).obliterate({ force: true });
    },
  };
}
