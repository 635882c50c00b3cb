/**
 * Contexts of the nats CLI for a local cluster: `nats --context trawl …`. A context that somebody else wrote under
 * our name is left alone and another name is taken. Which context the user has selected is not our business.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digest } from './layout.ts';
import { APP_USER, SYS_USER, type ClusterSecrets } from './nats-conf.ts';

export interface ContextNames {
  readonly app: string;
  readonly sys: string;
}

export interface ContextOptions {
  /** `$XDG_CONFIG_HOME`, or `~/.config`. */
  readonly configHome: string;
  readonly cluster: string;
  readonly home: string;
}

const DESCRIPTION = 'Trawl local cluster in ';

/** Undefined when every name is taken by others. */
export function writeContexts(
  options: ContextOptions & { readonly urls: readonly string[]; readonly secrets: ClusterSecrets },
): ContextNames | undefined {
  const names = pickNames(options);
  if (!names) return undefined;
  const url = options.urls.join(',');
  const description = `${DESCRIPTION}${options.home}`;
  mkdirSync(contextFolder(options.configHome), { recursive: true, mode: 0o700 });
  write(names.app, { description, url, user: APP_USER, password: options.secrets.app.reveal() });
  write(names.sys, { description, url, user: SYS_USER, password: options.secrets.sys.reveal() });
  return names;

  function write(name: string, context: Record<string, string>): void {
    const file = contextFile(options.configHome, name);
    writeFileSync(`${file}.new`, `${JSON.stringify(context, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
}

/** The names of the contexts that were removed: those that still describe this home. */
export function removeContexts(options: ContextOptions): string[] {
  const ours = candidates(options)
    .flatMap(({ app, sys }) => [app, sys])
    .filter((name) => homeOf(contextFile(options.configHome, name)) === options.home);
  for (const name of ours) rmSync(contextFile(options.configHome, name), { force: true });
  return ours;
}

function pickNames(options: ContextOptions): ContextNames | undefined {
  return candidates(options).find(({ app, sys }) => [app, sys].every((name) => isFree(options, name)));
}

function candidates({ cluster, home }: ContextOptions): ContextNames[] {
  const second = `${cluster}-${digest(home).slice(0, 6)}`;
  return [cluster, second].map((name) => ({ app: name, sys: `${name}-sys` }));
}

/** Nobody's, ours, or that of a local cluster whose home is gone. */
function isFree({ configHome, home }: ContextOptions, name: string): boolean {
  const file = contextFile(configHome, name);
  if (!existsSync(file)) return true;
  const owner = homeOf(file);
  return owner !== undefined && (owner === home || !existsSync(owner));
}

/** The home that a context was written for; undefined when it is not ours at all. */
function homeOf(file: string): string | undefined {
  try {
    const { description } = JSON.parse(readFileSync(file, 'utf8')) as { description?: unknown };
    if (typeof description !== 'string' || !description.startsWith(DESCRIPTION)) return undefined;
    return description.slice(DESCRIPTION.length);
  } catch {
    return undefined;
  }
}

function contextFolder(configHome: string): string {
  return join(configHome, 'nats', 'context');
}

function contextFile(configHome: string, name: string): string {
  return join(contextFolder(configHome), `${name}.json`);
}
