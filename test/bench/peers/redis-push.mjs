/** URLs into Redis by one script for a thousand: what scrapy-redis does, as fast as Redis can be made to do it. */
import { createHash } from 'node:crypto';
import Redis from 'ioredis';
import { inChunks, urls } from './counting.mjs';

/** One call per chunk: what the set does not know yet goes to the list, in one step for both. */
const PUSH = `
  local new = 0
  for i = 1, #ARGV, 2 do
    if redis.call('SADD', KEYS[1], ARGV[i]) == 1 then
      redis.call('RPUSH', KEYS[2], ARGV[i + 1])
      new = new + 1
    end
  end
  return new`;

export async function open({ port }) {
  const redis = new Redis({ host: '127.0.0.1', port });
  return {
    async submit({ list, count }) {
      let added = 0;
      await inChunks(urls(0, count), 1_000, 4, async (chunk) => {
        const words = chunk.flatMap((url) => [createHash('sha1').update(url).digest('hex'), url]);
        const fresh = await redis.eval(PUSH, 2, `${list}:seen`, `${list}:requests`, ...words);
        added += fresh;
      });
      return { added, queued: await redis.llen(`${list}:requests`) };
    },
    async clear({ list }) {
      await redis.unlink(`${list}:seen`, `${list}:requests`);
    },
  };
}
