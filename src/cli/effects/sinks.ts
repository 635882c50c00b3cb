/** `trawl sinks`: how far each sink is, and what somebody wishes of it. */
import { openBucket } from '../../nats/bucket.ts';
import {
  listSinks,
  readSink,
  removeSink,
  replaySink,
  type SinkPlace,
  type SinkView,
} from '../../nats/sinks.ts';
import { createNames } from '../../wire/names.ts';
import { requireText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { renderCount } from '../progress-bar.ts';
import { renderAge, renderTable } from '../table.ts';
import { withConnection } from '../with-connection.ts';

export async function run(context: CommandContext): Promise<ExitCode> {
  const { argv, config } = context;
  const names = createNames(config.namespace);
  await withConnection(context, 'sinks', (connection) =>
    act(context, { connection, names, bucket: openBucket(connection, names.bucket('cluster')) }),
  );
  return EXIT.ok;

  async function act({ output }: CommandContext, place: SinkPlace): Promise<void> {
    const action = String(argv['action']);
    if (action === 'ls') {
      const sinks = await listSinks(place);
      output.result({ sinks: sinks.map(plain) }, sinks.length === 0 ? 'No sinks.' : renderSinks(sinks));
      return;
    }
    const name = requireText(argv, 'name', `trawl sinks ${action} NAME`);
    if (action === 'show') {
      const sink = await readSink(place, name);
      output.result(plain(sink), renderSink(sink));
    } else if (action === 'rm') {
      await removeSink(place, name);
      output.result({ name, removed: true }, `${name}  forgotten; what it delivered stays`);
    } else {
      const replay = await replaySink(place, name);
      output.result({ name, replay }, `${name}  starts over`);
    }
  }
}

/** Its identity is a hash of an address that may hold a password. */
function plain(sink: SinkView): object {
  return { ...sink, identity: undefined };
}

function renderSinks(sinks: readonly SinkView[]): string {
  return renderTable(
    ['SINK', 'TYPE', 'STATE', 'POSITION', 'LAG', 'ITEMS', 'REJECTED', 'TARGET', 'LAST ERROR'],
    sinks.map((sink) => [
      sink.name,
      sink.type,
      stateOf(sink),
      String(sink.checkpoint.seq),
      sink.lag === undefined ? '-' : renderCount(sink.lag),
      renderCount(sink.checkpoint.items),
      renderCount(sink.checkpoint.rejected),
      sink.target,
      errorOf(sink),
    ]),
  );
}

function renderSink(sink: SinkView): string {
  const { name, type, target, run, kinds, checkpoint, lag, runner, updatedAt } = sink;
  const rows = {
    sink: name,
    type,
    target,
    run: run ?? 'all',
    kinds: kinds?.join(', ') ?? 'all',
    state: stateOf(sink),
    'run by': runner ?? '-',
    position: String(checkpoint.seq),
    lag: lag === undefined ? '-' : renderCount(lag),
    items: renderCount(checkpoint.items),
    rejected: renderCount(checkpoint.rejected),
    updated: new Date(updatedAt).toISOString(),
    'last error': errorOf(sink),
  };
  return Object.entries(rows)
    .map(([label, value]) => `${label.padEnd(12)}${value}`.trimEnd())
    .join('\n');
}

function stateOf({ runner, error }: SinkView): string {
  if (runner === undefined) return 'stopped';
  return error ? 'failing' : 'running';
}

function errorOf({ error }: SinkView): string {
  return error ? `${error.message} (${renderAge(Date.now() - error.at)} ago)` : '';
}
