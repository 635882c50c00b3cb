import t from 'tap';
import { readFileSync, statSync } from 'node:fs';
import { egressKeyFile, passwordFile, planLayout } from '../../src/local/layout.ts';
import { ensureSecrets } from '../../src/local/secrets.ts';
import { temporaryFolder } from '../kit/nats-server.ts';

t.test('passwords and the key of the egress are made once, and for their owner alone', async (t) => {
  const layout = planLayout({ home: temporaryFolder(t), shortFolder: '/tmp' });
  const first = ensureSecrets(layout);
  const key = readFileSync(egressKeyFile(layout), 'utf8');
  t.match(key, /^[\w-]{43}\n$/, '32 bytes');
  t.equal(statSync(egressKeyFile(layout)).mode & 0o777, 0o600);
  t.equal(statSync(passwordFile(layout, 'app')).mode & 0o777, 0o600);
  t.not(key.trim(), first.app.reveal());

  const again = ensureSecrets(layout);
  t.equal(readFileSync(egressKeyFile(layout), 'utf8'), key, 'a new one could open nothing that is stored');
  t.equal(again.app.reveal(), first.app.reveal());
});
