/** What the environment says about settings. */
import { CONFIG_ENV, settings, type Setting } from './catalogue.ts';
import type { Given } from './given.ts';
import { pickNearest } from '../domain/nearest.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Kubernetes and Docker announce a service called trawl or trawl-http to every container beside it as
 * TRAWL_PORT, TRAWL_HTTP_PORT=tcp://…, TRAWL_HTTP_SERVICE_HOST and so on. Nobody meant a setting by these.
 */
function isServiceLink(name: string, value: string): boolean {
  if (/_SERVICE_(HOST|PORT(_\w+)?)$/.test(name) || /_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?$/.test(name)) return true;
  return name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value);
}

/** A variable's value; an empty one counts as unset, since scripts and compose files cannot pass "unset" on. */
export function readVariable(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === undefined || value === '' || isServiceLink(name, value) ? undefined : value;
}

export function giveVariable(setting: Setting, env: Environment): Given | undefined {
  for (const name of setting.env) {
    const raw = readVariable(env, name);
    if (raw !== undefined) return { raw, source: { kind: 'env', where: name } };
  }
  return undefined;
}

/** A mistyped variable would be ignored in silence, so every TRAWL_ name has to be known. */
export function findUnknownVariables(env: Environment): readonly string[] {
  const known = [...settings.flatMap((setting) => setting.env), CONFIG_ENV];
  return Object.entries(env)
    .filter(
      ([name, value]) =>
        name.startsWith('TRAWL_') && !known.includes(name) && !isServiceLink(name, value ?? ''),
    )
    .map(([name]) => {
      const nearest = pickNearest(name, known);
      return `${name}: there is no such setting${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
    });
}
