/** The local cluster that this configuration describes, in the words of `local/`. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { settings } from '../config/catalogue.ts';
import type { Config, FieldPath } from '../config/fields.ts';
import { flagsFromArgv } from '../config/flags.ts';
import type { LoadedConfig } from '../config/load.ts';
import { readSinkFile } from '../config/sink-file.ts';
import type { Role } from '../domain/role.ts';
import { demoSiteAddress, planPorts } from '../local/layout.ts';
import type { UpOptions } from '../local/up.ts';
import { spreadWorkers } from '../policy/spread-workers.ts';
import { program } from '../program.ts';

/** As the state of a cluster has it. */
export const PER_MACHINE = 'workers-per-machine';

/** Where the nats CLI looks for its contexts. */
export function configHome(): string {
  return process.env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config');
}

export function describeLocalCluster(
  { config, sources }: LoadedConfig,
  argv: Readonly<Record<string, unknown>>,
): UpOptions {
  const { local } = config;
  const home = resolve(config.home);
  const command = [process.execPath, program.main];
  const forwarded = forwardFlags(argv);
  const ports = { nodes: local.nodes, portBase: local.portBase, httpPort: config.http.port };
  const demoSite = ['--fetch-allow-loopback', demoSiteAddress(local.portBase)];
  const actor = (role: Role, id: string, ...words: string[]): UpOptions['actors'][number] => ({
    role,
    id,
    args: [
      role,
      ...words,
      ...['--home', home, '--id', id],
      ...(role === 'exporter' ? ['--http-port', String(planPorts(ports).http)] : []),
      ...(role === 'worker' && config.fetch.allowLoopback === undefined ? demoSite : []),
      ...forwarded,
    ],
  });
  const { workers: wanted, workersPerMachine: perMachine } = local;
  const { here } = spreadWorkers({ wanted, perMachine });
  const limited = perMachine > 0 ? ['--local-workers-per-machine', String(perMachine)] : [];
  const scaling = scaleLocally(config, (path) => sources.get(path)?.kind === 'default');
  return {
    home,
    ...ports,
    maxStoreBytes: local.maxStore,
    durability: config.durability,
    actors: [
      actor('coordinator', 'coordinator-1'),
      actor('proxy-manager', 'proxy-manager-1'),
      ...Array.from({ length: here }, (_, index) => actor('worker', `worker-${index + 1}`)),
      actor('exporter', 'exporter-1'),
      actor('autoscaler', 'autoscaler-1', ...scaling, ...limited),
      ...namesOfSinks(config).map((name) => actor('sink', `sink-${name}`, name)),
    ],
    furtherWorker: { args: actor('worker', '{id}').args },
    actorCommand: command,
    supervisorCommand: [...command, 'supervise', '--home', home, ...forwarded],
    restartBackoffMaxMs: local.restartBackoffMax,
    stopGraceMs: config.actor.grace,
    configHome: configHome(),
    settings: {
      workers: String(local.workers),
      ...(perMachine > 0 && { [PER_MACHINE]: String(perMachine) }),
      nodes: String(local.nodes),
      'port-base': String(local.portBase),
      durability: config.durability,
      namespace: config.namespace,
    },
  };
}

/**
 * The autoscaler of a local cluster starts and ends its workers. The number that people asked for is the least, unless
 * they say otherwise; who asked for none wants to start workers himself.
 */
export function scaleLocally(
  { local, autoscale }: Pick<Config, 'local' | 'autoscale'>,
  isUnset: (path: FieldPath) => boolean,
): string[] {
  if (!isUnset('autoscale.driver') || local.workers === 0) return [];
  const words = ['--autoscale-driver', 'process'];
  const max = isUnset('autoscale.max') ? Math.max(autoscale.max, local.workers) : autoscale.max;
  if (isUnset('autoscale.max')) words.push('--autoscale-max', String(max));
  if (isUnset('autoscale.min')) words.push('--autoscale-min', String(Math.min(local.workers, max)));
  return words;
}

/** A file that is wrong is told now, not by a process that fails later. */
function namesOfSinks({ sinks }: Config): string[] {
  if (sinks.file === undefined) return [];
  return readSinkFile(sinks.file, { env: process.env, cwd: process.cwd() }).map(({ name }) => name);
}

/** Flags that somebody gave to `up` and that mean something to the actors too. */
function forwardFlags(argv: Readonly<Record<string, unknown>>): string[] {
  const { flags, file } = flagsFromArgv(argv);
  const own = new Set(['home', 'actor.id', 'http.port', 'http.actorPort']);
  const forwarded = settings
    .filter(({ path, section }) => section !== 'nats' && section !== 'local' && !own.has(path))
    .flatMap(({ path, flag }) => {
      const raw = flags[path];
      return raw === undefined ? [] : [`--${flag}`, typeof raw === 'string' ? raw : raw.join(',')];
    });
  return file === undefined ? forwarded : [...forwarded, '--config', resolve(file)];
}

/**
 * The actors of a local cluster talk to its own servers, whatever the environment of the shell that started it says
 * about others.
 */
export function forgetForeignConnection(env: NodeJS.ProcessEnv): void {
  const foreign = settings.filter(({ section }) => section === 'nats').flatMap(({ env: names }) => names);
  for (const name of foreign) Reflect.deleteProperty(env, name);
}
