/** The process of a user of Trawl: submits runs with the client that is shipped. Driven by peers/host.mjs. */
import { connectTrawl, loadConfig } from '../../../src/index.ts';
import { connectNats } from '../../../src/nats/connect.ts';
import { encodeJson } from '../../../src/wire/codec.ts';
import { createNames } from '../../../src/wire/names.ts';
import { quietLog } from '../../kit/nats-server.ts';

interface Settings {
  readonly nats: string;
  readonly durability: 'always' | 'interval';
}

interface Produce {
  readonly scraper: string;
  readonly run: string;
  readonly count: number;
  readonly from?: number;
  /** Where the tasks' URLs are; `*` stands for the number. */
  readonly pattern?: string;
  readonly priority?: number;
}

interface Submit {
  readonly scraper: string;
  readonly key: string;
  readonly priority: number;
}

export async function open({ nats, durability }: Settings): Promise<{
  produce: (job: Produce) => Promise<void>;
  submit: (task: Submit) => Promise<number>;
}> {
  const { config } = loadConfig({ flags: { 'nats.url': nats, durability }, env: {}, cwd: '/' });
  const client = await connectTrawl(config);
  const connection = await connectNats({
    access: config.nats,
    name: 'user',
    log: quietLog,
    whenUnreachable: 'fail',
  });
  const names = createNames(config.namespace);
  return {
    async produce({ scraper, run, count, from = 0, pattern = 'https://shop.example/item/*', priority }) {
      await client.run(scraper, urls(pattern, from, count), { run, priority });
    },
    /** Published to the intake, as `nats pub -J` does it; answers with the time just before. */
    async submit({ scraper, key, priority }) {
      const sentAt = performance.timeOrigin + performance.now();
      await connection.js.publish(names.submit(scraper), encodeJson({ key, input: {}, priority }));
      return sentAt;
    },
  };
}

function* urls(pattern: string, from: number, count: number): Generator<string> {
  for (let n = from; n < from + count; n += 1) yield pattern.replace('*', String(n));
}
