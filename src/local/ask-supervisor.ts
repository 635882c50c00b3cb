/** The client of the control socket. */
import { connect } from 'node:net';
import type { Failure } from '../domain/failure.ts';
import { parseControlReply, unpackFailure, type ControlRequest } from './messages.ts';
import type { Report } from './progress.ts';
import type { ClusterState } from './state.ts';

export type Asked =
  | { readonly kind: 'answered'; readonly state: ClusterState }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'nobody' } // no supervisor listens
  | { readonly kind: 'lost' } // it went away before it answered
  | { readonly kind: 'silent' }; // it listens, and does not answer

/** A supervisor that lives says at once that it heard, however long the work then takes. */
const HEARD_MAX_MS = 3_000;

export function askSupervisor(
  socketPath: string,
  asked: ControlRequest['op'] | ControlRequest,
  { limitMs, report = () => undefined }: { limitMs: number; report?: Report },
): Promise<Asked> {
  return new Promise((resolve) => {
    let answer: Asked = { kind: 'nobody' };
    let text = '';
    const socket = connect(socketPath);
    const settle = (settled: Asked): void => {
      answer = settled;
      socket.destroy();
    };
    let timer = setTimeout(() => settle({ kind: 'silent' }), Math.min(HEARD_MAX_MS, limitMs));
    socket.setEncoding('utf8');
    socket.on('connect', () => {
      answer = { kind: 'lost' };
      socket.write(`${JSON.stringify(typeof asked === 'string' ? { op: asked } : asked)}\n`);
    });
    socket.on('data', (part) => {
      const lines = (text + String(part)).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) receive(line);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(answer);
    });

    function receive(line: string): void {
      const reply = parseControlReply(line);
      switch (reply?.type) {
        case 'heard':
          clearTimeout(timer);
          timer = setTimeout(() => settle({ kind: 'silent' }), limitMs);
          break;
        case 'progress':
          report(reply.progress);
          break;
        case 'state':
          settle({ kind: 'answered', state: reply.state });
          break;
        case 'failed':
          settle({ kind: 'failed', failure: unpackFailure(reply.failure) });
          break;
        case undefined: // a line of a newer version: what we wait for still comes
      }
    }
  });
}
