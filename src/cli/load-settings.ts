/** The configuration of a command: flags, environment, file, and how to reach the cluster that runs here. */
import { flagsFromArgv } from '../config/flags.ts';
import { loadConfig, type LoadedConfig } from '../config/load.ts';
import { readLocalAccess } from '../local/access.ts';

export function loadSettings(argv: Readonly<Record<string, unknown>>): LoadedConfig {
  const given = { ...flagsFromArgv(argv), env: process.env, cwd: process.cwd() };
  const { home } = loadConfig(given).config;
  const local = readLocalAccess(home);
  if (!local) return loadConfig(given);
  const localDefaults = {
    'nats.url': [...local.url],
    'nats.user': local.user,
    'nats.password': `file:${local.passwordFile}`,
    'nats.replicas': String(local.url.length),
    ...(local.egressKeyFile !== undefined && { 'egress.key': `file:${local.egressKeyFile}` }),
  };
  return loadConfig({ ...given, localDefaults });
}
