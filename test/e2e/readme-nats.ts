/** Every recipe of the README for the nats CLI, with the CLI where there is one, and without. One that is not known fails. */
import t from 'tap';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { headers as createHeaders } from '@nats-io/transport-node';
import { Secret } from '../../src/domain/secret.ts';
import { connectNats } from '../../src/nats/connect.ts';
import { quietLog } from '../kit/nats-server.ts';
import { commandsOf, createShell } from '../kit/readme.ts';
import { installTrawl } from '../kit/trawl.ts';

const trawl = await installTrawl(t);
const shell = createShell(trawl);

t.test('with the nats CLI', { timeout: 120_000 }, async (t) => {
  t.equal((await shell('make cluster-up')).code, 0);
  const cli = (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'nats')));
  const name = 'trawl-home'; // the home of this test is not .trawl, so its context has another name
  const context = JSON.parse(readFileSync(join(trawl.configHome, `nats/context/${name}.json`), 'utf8')) as {
    url: string;
    user: string;
    password: string;
  };
  const connection = await connectNats({
    access: { url: [context.url], user: context.user, password: new Secret(context.password) },
    name: 'readme',
    log: quietLog,
    whenUnreachable: 'fail',
  });
  t.teardown(() => connection.close());

  for (const command of commandsOf('With the nats CLI')) {
    if (cli && !command.includes(' sub ')) {
      const { code, said } = await shell(command.replace('--context trawl', `--context ${name}`));
      t.equal(code, 0, `${command}: ${said}`);
    }
    // The same request without the CLI, so that every recipe is held to what the cluster answers.
    const [, verb, first = '', second = ''] = /--context \S+ (\S+) (\S+) ?(.*)$/.exec(command) ?? [];
    switch (verb) {
      case 'pub': {
        const [, headers = '', subject = '', body = ''] =
          /pub -J ((?:-H \S+ )*)(\S+) (.*)$/.exec(command) ?? [];
        const header = createHeaders();
        for (const [, name = '', value = ''] of headers.matchAll(/-H ([^:]+):(\S+)/g))
          header.append(name, value);
        const stored = await connection.js.publish(subject, body.replace(/^'|'$/g, ''), { headers: header });
        t.equal(stored.stream, 'INTAKE', command);
        break;
      }
      case 'micro': {
        const replies = await connection.nc.requestMany('$SRV.PING', undefined, {
          strategy: 'timer',
          maxWait: 2_000,
        });
        const services = new Set<string>();
        for await (const reply of replies) services.add(reply.json<{ name: string }>().name);
        t.same(
          services,
          new Set([
            'trawl-coordinator',
            'trawl-proxy-manager',
            'trawl-worker',
            'trawl-exporter',
            'trawl-autoscaler',
            'trawl-services',
            'trawl-egress',
            'trawl-snapshot',
            'trawl-scale',
          ]),
        );
        break;
      }
      case 'kv': {
        const key = second.split(' ')[1];
        const subject = key === undefined ? '$KV.cluster.>' : `$KV.cluster.${key}`;
        const message = await connection.jsm.streams.getMessage('KV_cluster', { last_by_subj: subject });
        t.match(message?.json(), key === undefined ? {} : { id: 'worker-1', status: 'running' }, command);
        break;
      }
      case 'req': {
        const body = second.replace(/^'|'$/g, '');
        const reply = await connection.nc.request(first, body);
        const expected: Record<string, object> = { status: { id: 'worker-1' }, stats: { total: Number } };
        t.match(
          reply.json(),
          expected[first.split('.').at(-1) ?? ''] ?? { ok: true, level: 'debug' },
          command,
        );
        break;
      }
      case 'sub':
        t.ok((await connection.jsm.streams.info('EVENTS')).state.messages > 0, 'events are there to be read');
        break;
      case 'server':
        t.ok(existsSync(join(trawl.configHome, `nats/context/${name}-sys.json`)), command);
        break;
      default:
        t.fail(`the README has a command that this test does not know: ${command}`);
    }
  }
  t.equal((await shell('make cluster-down')).code, 0);
});
