/** Passwords and keys of a local cluster: made once, one file each that only its owner reads. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Secret } from '../domain/secret.ts';
import { egressKeyFile, passwordFile, type Layout } from './layout.ts';
import type { ClusterSecrets } from './nats-conf.ts';

const PASSWORD_BYTES = 24;
const KEY_BYTES = 32;

export function ensureSecrets(layout: Layout): ClusterSecrets {
  mkdirSync(layout.secrets, { recursive: true, mode: 0o700 });
  ensure(egressKeyFile(layout), KEY_BYTES);
  const password = (who: 'app' | 'sys' | 'route'): Secret =>
    ensure(passwordFile(layout, who), PASSWORD_BYTES);
  return { app: password('app'), sys: password('sys'), route: password('route') };
}

function ensure(file: string, byteCount: number): Secret {
  if (!existsSync(file) || readFileSync(file, 'utf8').trim() === '') {
    writeFileSync(file, `${randomBytes(byteCount).toString('base64url')}\n`, { mode: 0o600 });
  }
  return new Secret(readFileSync(file, 'utf8').trim());
}
