/** A command's connection to NATS: opened for it, closed whatever happens. */
import type * as v from 'valibot';
import { readAnswer } from '../client/answers.ts';
import { createClient, type Client } from '../client/client.ts';
import { connectNats, type Connection } from '../nats/connect.ts';
import { createServices, type Services } from '../nats/services-client.ts';
import { createNames, type Names } from '../wire/names.ts';
import type { CommandContext } from './command.ts';
import { onLeaving } from './leaving.ts';

const LEADERLESS_MS = 1_000;

type Settings = Pick<CommandContext, 'config' | 'log'>;

export async function withConnection<T>(
  { config, log }: Settings,
  name: string,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await connectNats({
    access: config.nats,
    name: `trawl ${name}`,
    log,
    whenUnreachable: 'fail',
  });
  const stay = onLeaving(() => connection.sayGoodbye());
  try {
    return await use(connection);
  } finally {
    stay();
    await connection.close();
  }
}

export interface ClusterAccess {
  readonly client: Client;
  readonly connection: Connection;
  readonly names: Names;
  ask: Ask;
}

export type Ask = <Schema extends v.GenericSchema>(
  verb: string,
  schema: Schema,
  body: object,
  options?: { readonly timeoutMs?: number },
) => Promise<v.InferOutput<Schema>>;

/** With all that a command needs to deal with tasks. */
export function withClient<T>(
  context: Settings,
  name: string,
  use: (access: ClusterAccess) => Promise<T>,
): Promise<T> {
  const { config } = context;
  const names = createNames(config.namespace);
  return withConnection(context, name, (connection) => {
    const services = createServices(connection, names);
    const client = createClient(connection, { names, durability: config.durability, services });
    return use({ client, connection, names, ask: askThrough(services) });
  });
}

function askThrough(services: Services): Ask {
  return async (verb, schema, body, options) => readAnswer(schema, await services.call(verb, body, options));
}

/** Questions to the proxy-manager that leads. While one follows another nobody does, for a few seconds. */
export function withProxyManager<T>(
  context: Settings,
  name: string,
  use: (ask: Ask) => Promise<T>,
): Promise<T> {
  const { config } = context;
  const patienceMs = config.leader.ttl + LEADERLESS_MS;
  return withConnection(context, name, (connection) =>
    use(
      askThrough(
        createServices(connection, createNames(config.namespace), {
          nobody: 'no proxy-manager answers',
          hint: '`trawl status` shows who is alive; `trawl proxy-manager` starts one.',
          patienceMs,
        }),
      ),
    ),
  );
}

/** Questions to the autoscaler that leads. */
export function withAutoscaler<T>(
  context: Settings,
  name: string,
  use: (services: Services, connection: Connection) => Promise<T>,
): Promise<T> {
  const { config } = context;
  return withConnection(context, name, (connection) =>
    use(
      createServices(connection, createNames(config.namespace), {
        nobody: 'no autoscaler answers',
        hint: '`trawl status` shows who is alive; `trawl autoscaler` starts one.',
        patienceMs: config.leader.ttl + LEADERLESS_MS,
      }),
      connection,
    ),
  );
}

/** One question to a coordinator. */
export function askCoordinator<Schema extends v.GenericSchema>(
  context: Settings,
  question: { verb: string; schema: Schema; body: object; timeoutMs?: number },
): Promise<v.InferOutput<Schema>> {
  const { verb, schema, body, timeoutMs } = question;
  return withClient(context, verb, ({ ask }) =>
    ask(verb, schema, body, timeoutMs === undefined ? {} : { timeoutMs }),
  );
}
