/** The supervisor of a local cluster as the CLI runs it, with a `prepare` of the test's choice. */
import { readFileSync } from 'node:fs';
import { Secret } from '../../src/domain/secret.ts';
import { Failure } from '../../src/domain/failure.ts';
import { runSupervisor } from '../../src/local/supervise.ts';
import { applyTopology } from '../../src/nats/apply-topology.ts';
import { connectNats } from '../../src/nats/connect.ts';
import { createProcessLog } from '../../src/telemetry/log.ts';

const log = createProcessLog({ level: 'info', format: 'json' });
const behaviour = process.argv[2] ?? 'connect';

if (behaviour === 'die') process.exit(3);

process.exitCode = await runSupervisor({
  log,
  async prepare({ url, user, passwordFile }) {
    if (behaviour === 'refuse') throw new Failure('REJECTED', 'the streams do not fit');
    if (behaviour === 'hang') await new Promise(() => undefined);
    const password = new Secret(readFileSync(passwordFile, 'utf8').trim());
    const access = { url, user, password };
    const connection = await connectNats({ access, name: 'prepare', log, whenUnreachable: 'fail' });
    // As patient with an election as the program itself.
    const streams = [{ name: 'PROBE', settings: { name: 'PROBE', subjects: ['probe'] } }];
    await applyTopology(connection, { streams, consumers: [] }, { onDrift: 'keep' });
    await connection.close();
  },
});
