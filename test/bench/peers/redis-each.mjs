/** URLs into Redis as scrapy-redis does it: for each a question to the set of fingerprints, and if it is new, a push. */
import { createHash } from 'node:crypto';
import Redis from 'ioredis';
import { urls } from './counting.mjs';

export async function open({ port }) {
  const redis = new Redis({ host: '127.0.0.1', port });
  return {
    async submit({ list, count }) {
      let added = 0;
      for (const url of urls(0, count)) {
        const isNew = await redis.sadd(`${list}:each:seen`, createHash('sha1').update(url).digest('hex'));
        if (isNew === 0) continue;
        await redis.rpush(`${list}:each:requests`, url);
        added += 1;
      }
      return { added, queued: await redis.llen(`${list}:each:requests`) };
    },
    async clear({ list }) {
      await redis.unlink(`${list}:each:seen`, `${list}:each:requests`);
    },
  };
}
