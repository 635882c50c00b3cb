import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { findNatsServer } from '../../src/local/find-nats-server.ts';
import { temporaryFolder } from '../kit/nats-server.ts';

t.test('the path comes from stdout, the words from stderr', async (t) => {
  const script = join(temporaryFolder(t), 'get.sh');
  const said: string[] = [];
  writeFileSync(script, 'echo fetching >&2\necho /opt/nats-server\n');
  t.equal(await findNatsServer(({ text }) => void said.push(text), script), '/opt/nats-server');
  t.strictSame(said, ['fetching']);

  writeFileSync(script, 'echo no network >&2\nexit 1\n');
  await t.rejects(
    findNatsServer(() => undefined, script),
    { code: 'UNAVAILABLE', message: /no network/, hint: /NATS_SERVER/ },
  );
});
