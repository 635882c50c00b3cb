/** pg-boss: jobs inserted in bulk, fetched and completed in batches. */
import PgBoss from 'pg-boss';
import { createCounter, inChunks, urls } from './counting.mjs';

export async function open({ url }) {
  const boss = new PgBoss({ connectionString: url, max: 10, supervise: false, schedule: false });
  boss.on('error', () => undefined); // the server ends before this process does
  await boss.start();
  let counter;
  let queueInWork;
  let ended = true;
  let workers = [];
  const handle = async (queue, jobs) => {
    counter.began();
    await boss.complete(
      queue,
      jobs.map(({ id }) => id),
    );
    counter.settled(jobs.length);
  };
  const counts = async (queue) => {
    const { rows } = await boss.getDb().executeSql(
      `select count(*) filter (where state = 'completed')::int as done,
        count(*) filter (where state = 'failed')::int as dead,
        count(*) filter (where state in ('created', 'active', 'retry'))::int as open
        from pgboss.job where name = $1`,
      [queue],
    );
    return rows[0];
  };
  return {
    async produce({ queue, from = 0, count }) {
      await boss.createQueue(queue);
      await inChunks(urls(from, count), 1_000, 2, (chunk) =>
        boss.insert(chunk.map((each) => ({ name: queue, data: { url: each } }))),
      );
    },
    async start({ queue, count }) {
      queueInWork = queue;
      counter = createCounter(count);
      await boss.createQueue(queue);
      // Its own workers rest half a second between two batches at least, so the batches are taken by hand.
      ended = false;
      workers = Array.from({ length: 4 }, async () => {
        while (!ended) {
          const jobs = await boss.fetch(queue, { batchSize: 500 });
          if (jobs.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
          else await handle(queue, jobs);
        }
      });
    },
    async finish() {
      await counter.all;
      while ((await counts(queueInWork)).open > 0) await new Promise((resolve) => setTimeout(resolve, 5));
      const times = counter.times();
      ended = true;
      await Promise.all(workers);
      return times;
    },
    check: ({ queue }) => counts(queue),
    async clear({ queue }) {
      await boss.getDb().executeSql('delete from pgboss.job where name = $1', [queue]);
    },
  };
}
