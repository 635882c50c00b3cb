/** The client for programs: connects, and is ready. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '../config/fields.ts';
import { Failure } from '../domain/failure.ts';
import { Secret } from '../domain/secret.ts';
import { readLocalAccess } from '../local/access.ts';
import { connectNats, type NatsAccess } from '../nats/connect.ts';
import { createLog, type Log } from '../telemetry/log.ts';
import { createNames, DEFAULT_NAMESPACE } from '../wire/names.ts';
import { createClient, type Client } from './client.ts';

/** For who has no configuration of a cluster at hand. */
export interface TrawlOptions {
  /** `nats://127.0.0.1:4222` without it. */
  readonly servers?: string | readonly string[];
  /** Folder of a cluster that runs on this machine, `.trawl` as a rule: its address and its password. */
  readonly home?: string;
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
  /** Path of a credentials file. */
  readonly creds?: string;
  readonly namespace?: string;
  /** Shown by `nats server report connections`. */
  readonly name?: string;
  /** Without one, the client says nothing. */
  readonly log?: Log;
}

type ClientConfig = Pick<Config, 'nats' | 'namespace' | 'durability'>;

const silent = createLog({ level: 'error', format: 'json', write: () => undefined });

/** Throws `UNAVAILABLE` when no server answers. Later outages are waited out. */
export async function connectTrawl(given: ClientConfig | TrawlOptions = {}): Promise<Client> {
  const { access, namespace, durability, name, log } =
    'nats' in given ? fromConfig(given) : fromOptions(given);
  const connection = await connectNats({ access, name, log, whenUnreachable: 'fail' });
  return createClient(connection, { names: createNames(namespace), durability });
}

interface Place {
  readonly access: NatsAccess;
  readonly namespace: string;
  readonly durability: Config['durability'];
  readonly name: string;
  readonly log: Log;
}

function fromConfig({ nats, namespace, durability }: ClientConfig): Place {
  return { access: nats, namespace, durability, name: 'trawl client', log: silent };
}

function fromOptions(options: TrawlOptions): Place {
  return {
    access: options.home === undefined ? readAccess(options) : readHome(options.home),
    namespace: options.namespace ?? DEFAULT_NAMESPACE,
    durability: 'always',
    name: options.name ?? 'trawl client',
    log: options.log ?? silent,
  };
}

function readAccess(options: TrawlOptions): NatsAccess {
  const { servers = 'nats://127.0.0.1:4222', user, password, token, creds } = options;
  return {
    url: typeof servers === 'string' ? servers.split(',') : servers,
    user,
    password: password === undefined ? undefined : new Secret(password),
    token: token === undefined ? undefined : new Secret(token),
    creds,
  };
}

function readHome(home: string): NatsAccess {
  const local = readLocalAccess(resolve(home));
  if (!local)
    throw new Failure('UNAVAILABLE', `there is no cluster in ${home}`, {
      hint: '`make cluster-up` starts one.',
    });
  const { url, user, passwordFile } = local;
  return { url, user, password: new Secret(readFileSync(passwordFile, 'utf8').trim()) };
}
