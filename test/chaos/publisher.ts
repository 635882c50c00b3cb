/**
 * Two publishers on one stream, partly after the same subjects, while their server is killed and stopped at random.
 * At the end the stream is held against every outcome. `SEED=n` repeats the plan of a run (not its timing).
 */
import t from 'tap';
import { setTimeout as delay } from 'node:timers/promises';
import { createPublisher, type Outgoing } from '../../src/nats/publisher.ts';
import { publishAll } from '../../src/nats/publisher/all.ts';
import { startNatsServer, type TestServer } from '../kit/nats-server.ts';
import {
  addStream,
  countKinds,
  findBrokenPromises,
  message,
  readStream,
  type Kept,
  type Sent,
} from '../kit/publisher-check.ts';
import { chooseSeed, createRandom, type Random } from '../kit/random.ts';

const FAULTS = 8;
const BURST = 100;
const BURST_EVERY_MS = 15;
const WRITERS = ['a', 'b'] as const;

const seed = chooseSeed();
t.comment(`seed ${seed}`);

for (const durability of ['interval', 'always'] as const) {
  t.test(`durability ${durability}`, async (t) => {
    const random = createRandom(seed);
    const server = await startNatsServer(t, { sync: durability });
    const stream = await addStream(await server.connect('maker'));
    const sent: Sent[] = [];
    let over = false;

    const writers = WRITERS.map(async (writer, i) => {
      const publisher = await createPublisher(await server.connect(writer), {
        stream,
        durability,
        window: 1_000,
        batch: 200,
        ackTimeoutMs: 400,
        giveUpMs: 30_000,
      });
      const source = produce({
        stream,
        writer,
        random: createRandom(seed + 1 + i),
        isOver: () => over,
      });
      await publishAll(publisher, source, (one, outcome) => sent.push({ message: one, outcome }));
      t.equal(publisher.pending(), 0, `all messages of ${writer} have an outcome`);
    });
    const faults = await harass(server, random);
    over = true;
    await Promise.all(writers);
    await restart(server); // what was acknowledged must survive this one too

    const kept = await readStream(await server.connect('reader'), stream);
    const kinds = countKinds(sent);
    t.comment(`${faults.join(', ')}; ${sent.length} published: ${JSON.stringify(kinds)}`);
    t.ok(kinds.stored > 2_000, 'work went on');
    t.same(findBrokenPromises(sent, kept).slice(0, 20), [], 'every outcome is true');
    t.same(findDoubts(sent).slice(0, 20), [], 'nothing that can be found out stayed unknown');
    t.same(findContests(sent, kept).slice(0, 20), [], 'of two that want a subject, one gets it');
  });
}

interface Producer {
  readonly stream: string;
  readonly writer: string;
  readonly random: Random;
  readonly isOver: () => boolean;
}

/** Bursts of messages of all kinds; both writers want the same `shared` subjects. */
async function* produce({ stream, writer, random, isOver }: Producer): AsyncGenerator<Outgoing> {
  for (let i = 0; !isOver(); i += 1) {
    if (i % BURST === 0) await delay(BURST_EVERY_MS);
    const own = message(`${stream}.${writer}.${i}`, `${writer}${i}`);
    const kind = random.next();
    if (kind < 0.1) yield own;
    else if (kind < 0.25) yield { ...own, repeatable: true };
    else if (i % 4 === 0) yield { ...own, subject: `${stream}.shared.${i}`, expect: 0 };
    else yield { ...own, expect: 0 };
  }
}

async function harass(server: TestServer, random: Random): Promise<string[]> {
  const done: string[] = [];
  for (let i = 0; i < FAULTS; i += 1) {
    await delay(random.int(200, 700));
    const fault = random.pick(['kill', 'stop briefly', 'stop long', 'kill while stopped']);
    done.push(fault);
    if (fault !== 'kill') server.signal('SIGSTOP');
    if (fault === 'stop briefly') await delay(random.int(50, 300));
    else if (fault !== 'kill') await delay(random.int(500, 900)); // longer than a publisher waits for an answer
    if (fault.startsWith('kill')) await restart(server);
    else server.signal('SIGCONT');
  }
  return done;
}

async function restart(server: TestServer): Promise<void> {
  await server.kill('SIGKILL');
  await server.start();
}

function findDoubts(sent: readonly Sent[]): string[] {
  return sent
    .filter(({ message: one }) => one.expect !== undefined || one.repeatable === true)
    .filter(({ outcome }) => outcome.kind === 'unknown')
    .map(({ message: one, outcome }) => `${one.subject}: ${JSON.stringify(outcome)}`);
}

function findContests(sent: readonly Sent[], kept: ReadonlyMap<number, Kept>): string[] {
  const holders = new Map<string, number>();
  for (const { subject } of kept.values()) holders.set(subject, (holders.get(subject) ?? 0) + 1);
  return sent
    .filter(({ message: one }) => one.expect !== undefined && holders.get(one.subject) !== 1)
    .map(({ message: one }) => `${one.subject} has ${holders.get(one.subject) ?? 0} messages`);
}
