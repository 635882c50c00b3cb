/** graphile-worker: jobs added in bulk; for rate the batched local queue of its guide to speed, for latency none. */
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { createCounter, createProbes, inChunks, now, urls } from './counting.mjs';

const FAST = {
  worker: {
    concurrentJobs: 24,
    localQueue: { size: 500, refetchDelay: { durationMs: 10 } },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  },
};

export async function open({ url, concurrency }) {
  const pgPool = new pg.Pool({ connectionString: url, max: 30 });
  // The server ends before this process does.
  pgPool.on('error', () => undefined);
  pgPool.on('connect', (client) => client.on('error', () => undefined));
  const logger = new Logger(() => () => undefined);
  const utils = await makeWorkerUtils({ pgPool, logger });
  await utils.migrate();
  let runner;
  let counter;
  const probes = createProbes();
  const left = async (queue) => {
    const { rows } = await pgPool.query(
      'select count(*)::int as open from graphile_worker.jobs where task_identifier = $1',
      [queue],
    );
    return rows[0].open;
  };
  let queueInWork;
  return {
    async produce({ queue, from = 0, count, priority = 0 }) {
      await inChunks(urls(from, count), 1_000, 2, (chunk) =>
        utils.addJobs(chunk.map((each) => ({ identifier: queue, payload: { url: each }, priority }))),
      );
    },
    async probe({ queue, id, priority }) {
      const sentAt = now();
      await utils.addJob(queue, { probe: id }, { priority });
      return sentAt;
    },
    async start({ queue, count, slowMs }) {
      queueInWork = queue;
      counter = createCounter(count);
      const noop = async () => {
        counter.began();
        counter.settled();
      };
      const slow = (payload) => {
        if (payload.probe !== undefined) return void probes.began(payload.probe);
        return new Promise((resolve) => setTimeout(resolve, slowMs));
      };
      const how = slowMs === undefined ? FAST : { worker: { concurrentJobs: concurrency } };
      runner = await run({
        pgPool,
        logger,
        noHandleSignals: true,
        preset: { worker: { ...how.worker } },
        taskList: { [queue]: slowMs === undefined ? noop : slow },
      });
    },
    startedAt: probes.startedAt,
    async finish() {
      await counter.all;
      // Completed jobs are deleted: it is over when none is left.
      while ((await left(queueInWork)) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
      const times = counter.times();
      await runner.stop();
      return times;
    },
    async stop() {
      await runner.stop();
    },
    async check({ queue, count }) {
      const open = await left(queue);
      return { done: count - open, dead: 0, open };
    },
    async clear({ queue }) {
      await pgPool.query(
        `delete from graphile_worker._private_jobs where task_id in
          (select id from graphile_worker._private_tasks where identifier = $1)`,
        [queue],
      );
    },
  };
}
