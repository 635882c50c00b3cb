import t from 'tap';
import type { Beat } from '../../src/domain/beat.ts';
import { decideActorEvent, findLostLife, type ActorEvent } from '../../src/policy/actor-event.ts';

const beat = (status: Beat['status'], startedAt = 1): Beat => ({
  id: 'w1',
  role: 'worker',
  host: 'h',
  place: 'p',
  pid: 7,
  version: '1',
  startedAt,
  beatAt: 5,
  status,
  paused: false,
  inFlight: 0,
  limits: {},
});

t.test('what a change of a heartbeat means', async (t) => {
  const table: [
    name: string,
    before: Beat | undefined,
    after: Beat | undefined,
    kind: ActorEvent['kind'] | undefined,
  ][] = [
    ['it starts', undefined, beat('initializing'), undefined],
    ['it runs', beat('initializing'), beat('running'), 'joined'],
    ['seen first when it runs', undefined, beat('running'), 'joined'],
    ['it beats', beat('running'), beat('running'), undefined],
    ['it drains', beat('running'), beat('draining'), 'draining'],
    ['it ends', beat('draining'), beat('stopped'), 'left'],
    ['its record goes after it ended', beat('stopped'), undefined, undefined],
    ['its record goes while it ran', beat('running'), undefined, 'lost'],
    ['its record goes while it drained', beat('draining'), undefined, 'lost'],
    ['a new life under the old id', beat('running', 1), beat('running', 2), 'joined'],
    ['an old end, seen first', undefined, beat('stopped'), undefined],
    ['nothing, twice', undefined, undefined, undefined],
  ];
  for (const [name, before, after, kind] of table) t.equal(decideActorEvent(before, after)?.kind, kind, name);
});

t.test('which life has ended without a word', async (t) => {
  const table: [
    name: string,
    before: Beat | undefined,
    after: Beat | undefined,
    startedAt: number | undefined,
  ][] = [
    ['it starts', undefined, beat('running'), undefined],
    ['it beats', beat('running'), beat('running'), undefined],
    ['it ends', beat('draining'), beat('stopped'), undefined],
    ['its record goes after it ended', beat('stopped'), undefined, undefined],
    ['its record goes', beat('running', 1), undefined, 1],
    ['a new life takes its id', beat('running', 1), beat('initializing', 2), 1],
    ['a new life takes the id of one that ended', beat('stopped', 1), beat('running', 2), undefined],
  ];
  for (const [name, before, after, startedAt] of table)
    t.equal(findLostLife(before, after)?.startedAt, startedAt, name);
});
