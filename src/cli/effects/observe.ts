/** `trawl observe`: find the exporter by its heartbeat, run Prometheus on it, say what to look at. */
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { prometheusPort } from '../../local/layout.ts';
import {
  findPrometheus,
  lastErrors,
  localConfig,
  refuseBusyPort,
  startPrometheus,
} from '../../local/prometheus.ts';
import { listBeats } from '../../nats/beats.ts';
import { openBucket } from '../../nats/bucket.ts';
import { projectRoot } from '../../project-root.ts';
import { createNames } from '../../wire/names.ts';
import { readWhole } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { withConnection } from '../with-connection.ts';

export async function run(context: CommandContext): Promise<ExitCode> {
  const { argv, config, output } = context;
  const port = readWhole(argv, 'port', { min: 0, max: 65_535 }) ?? prometheusPort(config.local.portBase);
  const stop = context.interrupts();
  const exporter = await findExporter(context);
  await refuseBusyPort(port);
  const program = await findPrometheus(({ text }) => output.progress(`… ${text}`));
  const folder = join(resolve(config.home), 'prometheus');
  const prometheus = await startPrometheus({ program, config: localConfig(exporter.host), folder, port });
  output.result(
    { url: prometheus.url, exporter: exporter.href, folder },
    describe(prometheus.url, exporter, folder),
  );
  const ended = prometheus.ended.then(lastErrors);
  if (!stop.aborted) await Promise.race([ended, once(stop, 'abort')]);
  // Ctrl-C on a terminal reaches both: an end after it is the one that was asked for.
  if (!stop.aborted) throw new Failure('INTERNAL', `Prometheus has ended: ${await ended}`);
  await prometheus.stop();
  return EXIT.ok;
}

async function findExporter(context: CommandContext): Promise<URL> {
  const { config, log } = context;
  const beats = await withConnection(context, 'observe', (connection) =>
    listBeats(openBucket(connection, createNames(config.namespace).bucket('cluster')), log),
  );
  const page = beats.find(
    ({ role, http, status }) => role === 'exporter' && http && status === 'running',
  )?.http;
  if (page !== undefined) return new URL(page);
  throw new Failure('NETWORK', 'no exporter is running', {
    hint: '`trawl up` starts a local cluster with one, `trawl exporter` starts one by itself; `trawl status` shows who is there.',
  });
}

function describe(url: string, exporter: URL, folder: string): string {
  const grafana = join(projectRoot, 'config/grafana');
  return [
    `Prometheus is at ${url}; Ctrl-C ends it.`,
    '',
    `  scrapes    ${exporter.origin} and every actor that it names`,
    `  alerts     ${url}/api/v1/alerts`,
    `  data       ${folder}`,
    '',
    'For Grafana, before it starts:',
    `  export GF_PATHS_PROVISIONING=${join(grafana, 'provisioning')}`,
    `  export TRAWL_DASHBOARDS=${join(grafana, 'dashboards')} PROMETHEUS_URL=${url}`,
  ].join('\n');
}
