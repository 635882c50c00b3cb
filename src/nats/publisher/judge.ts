/** What an answer means for one message, and what is done about it. The decisions are in policy/recheck.ts. */
import { decideRefusal, decideSilence, type Verdict } from '../../policy/recheck.ts';
import type { Connection } from '../connect.ts';
import { REFUSED_CONFLICT, type Answer } from './answer.ts';
import type { Entry } from './entry.ts';
import { createInspect } from './inspect.ts';
import type { Link } from './link.ts';
import { createRecheck } from './recheck.ts';
import type { PublishOutcome } from '../publisher.ts';

export interface JudgePorts {
  readonly connection: Connection;
  readonly stream: string;
  readonly link: Link;
  readonly ackTimeoutMs: number;
  readonly mayVanish: boolean;
  settle(entry: Entry, outcome: PublishOutcome): void;
  resubmit(entry: Entry): void;
}

export interface Judge {
  judge(entry: Entry, answer: Answer): void;
  /** The link is open: go on with what waits for evidence. */
  pump(): void;
}

export function createJudge(ports: JudgePorts): Judge {
  const { link } = ports;
  const recheck = createRecheck({ ...ports, onVerdict });
  const inspect = createInspect({ ...ports, refuse: onRefused, later });

  return { judge, pump: () => recheck.pump() };

  function judge(entry: Entry, answer: Answer): void {
    if (entry.done) return;
    switch (answer.kind) {
      case 'stored':
        link.progress();
        ports.settle(entry, answer);
        break;
      case 'committed':
        ports.settle(entry, { kind: 'stored', seq: answer.seq });
        break;
      case 'refused':
        onRefused(entry, answer.code, answer.reason);
        break;
      case 'nobody':
        inspect(entry);
        break;
      case 'silence':
        onSilence(entry, answer.reason);
        break;
    }
  }

  function onSilence(entry: Entry, reason: string): void {
    link.suspect();
    entry.doubtful = true;
    const { expect, repeatable = false } = entry.message;
    switch (decideSilence({ expect, repeatable })) {
      case 'recheck':
        recheck.add(entry);
        break;
      case 'again':
        ports.resubmit(entry);
        break;
      case 'unknown':
        ports.settle(entry, { kind: 'unknown', reason });
        break;
    }
  }

  function onRefused(entry: Entry, code: number, reason: string): void {
    switch (decideRefusal({ code, doubtful: entry.doubtful, expect: entry.message.expect })) {
      case 'refused':
        ports.settle(entry, { kind: 'refused', code, reason });
        break;
      case 'later':
        later(entry);
        break;
      case 'recheck':
        entry.refused = true;
        recheck.add(entry);
        break;
      case 'unknown':
        ports.settle(entry, {
          kind: 'unknown',
          reason: `${reason} (${code}), but an earlier copy may be stored`,
        });
        break;
    }
  }

  function onVerdict(entry: Entry, verdict: Verdict): void {
    if (entry.done) return;
    switch (verdict.kind) {
      case 'stored':
        ports.settle(entry, verdict);
        break;
      case 'beaten':
        ports.settle(entry, {
          kind: 'refused',
          code: REFUSED_CONFLICT,
          reason: `wrong last sequence: ${verdict.seq}`,
        });
        break;
      case 'again':
        ports.resubmit(entry);
        break;
      case 'unknown':
        ports.settle(entry, verdict);
        break;
    }
  }

  function later(entry: Entry): void {
    link.holdOff();
    ports.resubmit(entry);
  }
}
