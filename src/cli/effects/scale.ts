/** `trawl scale` and `trawl drain`: change the size of the cluster by hand. */
import * as v from 'valibot';
import { readAnswer } from '../../client/answers.ts';
import { Failure } from '../../domain/failure.ts';
import { listBeats } from '../../nats/beats.ts';
import { openBucket } from '../../nats/bucket.ts';
import { askActor } from '../../nats/mailbox.ts';
import { createNames } from '../../wire/names.ts';
import { requireText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { withAutoscaler, withConnection } from '../with-connection.ts';

const HOW = 'trawl scale worker=N';
/** A driver may wait for workers to start, or to finish. */
const SCALE_MAX_MS = 180_000;
const DRAIN_MAX_MS = 5_000;
const scaled = v.looseObject({ from: v.number(), to: v.number() });

export async function scale(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  const text = requireText(argv, 'target', HOW);
  const [, role = '', number = ''] = /^([a-z-]+)=(\d{1,5})$/.exec(text) ?? [];
  if (role === '') throw new Failure('INVALID', `not a size: ${text}`, { hint: HOW });
  if (role !== 'worker')
    throw new Failure('INVALID', `only workers can be scaled, not ${role}`, { hint: HOW });
  const answer = await withAutoscaler(context, 'scale', async (services) =>
    readAnswer(
      scaled,
      await services.call('scale', { role, count: Number(number) }, { timeoutMs: SCALE_MAX_MS }),
    ),
  );
  const { from, to } = answer;
  output.result(
    answer,
    from === to
      ? `There are ${to} workers already.`
      : to > from
        ? `${from} → ${to} workers.`
        : `${from} → ${to} workers; those that go finish their tasks first.`,
  );
  return EXIT.ok;
}

export async function drain(context: CommandContext): Promise<ExitCode> {
  const { config, log, argv, output } = context;
  const id = requireText(argv, 'id', 'trawl drain ID');
  const names = createNames(config.namespace);
  const answer = await withConnection(context, 'drain', async (connection) => {
    const beats = await listBeats(openBucket(connection, names.bucket('cluster')), log);
    const known = beats.filter((beat) => beat.id === id && beat.status !== 'stopped');
    const [beat] = known;
    if (!beat)
      throw new Failure('REJECTED', `nobody is called ${id}`, { hint: '`trawl status` shows who is there.' });
    if (known.length > 1)
      throw new Failure(
        'REJECTED',
        `${known.length} actors are called ${id}: ${known.map(({ role }) => role).join(', ')}`,
      );
    const body = { finish: argv['grace'] !== true };
    await askActor(connection, { names, role: beat.role, id, verb: 'drain', body, timeoutMs: DRAIN_MAX_MS });
    return { id, role: beat.role, status: 'draining', inFlight: beat.inFlight };
  });
  output.result(answer, `${answer.role} ${id} takes nothing more, finishes what it has, and ends.`);
  return EXIT.ok;
}
