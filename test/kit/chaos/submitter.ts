/** Submits tasks in every way there is, some of them twice, at a steady pace, whatever happens to the cluster. */
import { setTimeout as delay } from 'node:timers/promises';
import { createTaskId } from '../../../src/domain/task-id.ts';
import { defaultRunId } from '../../../src/domain/run-id.ts';
import type { Connection } from '../../../src/nats/connect.ts';
import { createServices } from '../../../src/nats/services-client.ts';
import type { Names } from '../../../src/wire/names.ts';
import type { Random } from '../random.ts';
import type { History } from './history.ts';
import { SCRAPER } from './scraper.ts';
import type { TaskKind } from './story.ts';
import type { Target } from './target.ts';

export interface Submitter {
  /** Every task that was tried to submit, by `<run>.<id>`. */
  readonly tasks: ReadonlyMap<string, { readonly kind: TaskKind; readonly url: string }>;
  /** Messages for the run that were stored. */
  messages(): number;
  /** Resolves when all of them were submitted; `acknowledged`: and all of them stored. */
  run(options: { tasks: number; seconds: number }): Promise<void>;
}

export interface SubmitterParts {
  readonly connection: Connection;
  readonly names: Names;
  readonly run: string;
  readonly target: Target;
  readonly history: History;
  readonly random: Random;
  readonly kinds: KindRates;
  /** Whether some are submitted as requests, of which nobody knows what became when their coordinator dies. */
  readonly requests: boolean;
}

/** One task in so many is of that kind. */
export type KindRates = Readonly<Partial<Record<TaskKind, number>>>;

const CHUNK = { from: 15, to: 60 };
const REQUEST = { from: 1, to: 4 };
const STANDING = 0.1;
const REPEATED = 0.08;
/** How often what nobody acknowledged is submitted again. */
const INSISTS = 0.85;
const TRIES_MAX = 5;
const ACK_MS = 1_500;

interface Task {
  readonly name: string;
  readonly run: string;
  readonly url: string;
}

export function createSubmitter(parts: SubmitterParts): Submitter {
  const { connection, names, target, history, random } = parts;
  const services = createServices(connection, names);
  const tasks = new Map<string, { kind: TaskKind; url: string }>();
  const earlier: Task[] = [];
  let made = 0;
  let messages = 0;
  return { tasks, messages: () => messages, run };

  async function run({ tasks: count, seconds }: { tasks: number; seconds: number }): Promise<void> {
    const startedAt = performance.now();
    const underWay: Promise<void>[] = [];
    while (made < count) {
      underWay.push(submitSome(count - made));
      await delay(Math.max(0, startedAt + (made / count) * seconds * 1_000 - performance.now()));
    }
    await Promise.all(underWay);
  }

  async function submitSome(most: number): Promise<void> {
    const way = random.next();
    const standing = random.chance(STANDING);
    const range = way < 0.5 ? CHUNK : way < 0.75 ? REQUEST : { from: 1, to: 1 };
    const some = Array.from({ length: Math.min(most, random.int(range.from, range.to)) }, () =>
      next(standing),
    );
    const send = parts.requests && way < 0.75 && way >= 0.5 ? request : publish;
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const at = Date.now();
      const stored = await send(some);
      history.add({
        type: 'submit',
        at,
        tasks: some.map(({ name }) => name),
        outcome: stored ? 'stored' : 'unknown',
      });
      if (stored || !random.chance(INSISTS)) return;
    }
  }

  function next(standing: boolean): Task {
    const known = earlier[random.int(0, Math.max(0, earlier.length - 1))];
    const own = known && (known.run !== parts.run) === standing;
    if (own && random.chance(REPEATED)) return known;
    made += 1;
    const kind = kindOf(made);
    const url = target.url(kind, made);
    const runId = standing ? defaultRunId(SCRAPER) : parts.run;
    const name = `${runId}.${createTaskId({ scraper: SCRAPER, url })}`;
    const task = { name, run: runId, url };
    tasks.set(name, { kind, url });
    earlier.push(task);
    return task;
  }

  function kindOf(number: number): TaskKind {
    for (const [kind, rate] of Object.entries(parts.kinds))
      if (number % rate === rate >> 1) return kind as TaskKind;
    return 'ordinary';
  }

  async function publish(some: readonly Task[]): Promise<boolean> {
    const [first] = some;
    if (!first) return true;
    const own = first.run === parts.run;
    const subject = own ? names.submit(SCRAPER, parts.run) : names.submit(SCRAPER);
    try {
      await connection.js.publish(subject, some.map(({ url }) => url).join('\n'), { timeout: ACK_MS });
      if (own) messages += 1;
      return true;
    } catch {
      return false;
    }
  }

  async function request(some: readonly Task[]): Promise<boolean> {
    const [first] = some;
    if (!first) return true;
    const own = first.run === parts.run;
    const body = { scraper: SCRAPER, ...(own && { run: parts.run }), tasks: some.map(({ url }) => url) };
    try {
      await services.call('submit', body, { timeoutMs: ACK_MS });
      if (own) messages += 1;
      return true;
    } catch {
      return false;
    }
  }
}
