/** How a client reaches the local cluster: the defaults of `nats.url`, `nats.user` and `nats.password`. */
import { existsSync } from 'node:fs';
import { layoutOf } from './home.ts';
import { passwordFile } from './layout.ts';
import { APP_USER } from './nats-conf.ts';
import { readClusterState } from './state.ts';

export interface LocalAccess {
  readonly url: readonly string[];
  readonly user: string;
  /** Holds the password and nothing else. */
  readonly passwordFile: string;
}

/** Of the cluster in this home, running or not; undefined where none was ever started. */
export function readLocalAccess(home: string): LocalAccess | undefined {
  const layout = layoutOf(home);
  const state = readClusterState(layout.state);
  const file = passwordFile(layout, 'app');
  if (!state || !existsSync(file)) return undefined;
  return { url: state.urls, user: APP_USER, passwordFile: file };
}
