/** Passwords of a local cluster: made once, one file each that only its owner reads. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Secret } from '../domain/secret.ts';
import { passwordFile, type Layout } from './layout.ts';
import type { ClusterSecrets } from './nats-conf.ts';

const PASSWORD_BYTES = 24;

export function ensureSecrets(layout: Layout): ClusterSecrets {
  mkdirSync(layout.secrets, { recursive: true, mode: 0o700 });
  return { app: ensure('app'), sys: ensure('sys'), route: ensure('route') };

  function ensure(who: 'app' | 'sys' | 'route'): Secret {
    const file = passwordFile(layout, who);
    if (!existsSync(file) || readFileSync(file, 'utf8').trim() === '') {
      writeFileSync(file, `${randomBytes(PASSWORD_BYTES).toString('base64url')}\n`, { mode: 0o600 });
    }
    return new Secret(readFileSync(file, 'utf8').trim());
  }
}
