/** How a client reaches the local cluster: the defaults of `nats.url`, `nats.user` and `nats.password`. */
import { existsSync } from 'node:fs';
import { layoutOf } from './home.ts';
import { egressKeyFile, passwordFile } from './layout.ts';
import { APP_USER } from './nats-conf.ts';
import { readClusterState } from './state.ts';

export interface LocalAccess {
  readonly url: readonly string[];
  readonly user: string;
  /** Holds the password and nothing else. */
  readonly passwordFile: string;
  /** Holds the key of the egress; a cluster of an older version has none until its next start. */
  readonly egressKeyFile?: string | undefined;
}

/** Of the cluster in this home, running or not; undefined where none was ever started. */
export function readLocalAccess(home: string): LocalAccess | undefined {
  const layout = layoutOf(home);
  const state = readClusterState(layout.state);
  const file = passwordFile(layout, 'app');
  if (!state || !existsSync(file)) return undefined;
  const keyFile = egressKeyFile(layout);
  return {
    url: state.urls,
    user: APP_USER,
    passwordFile: file,
    ...(existsSync(keyFile) && { egressKeyFile: keyFile }),
  };
}
