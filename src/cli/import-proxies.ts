/** A list of proxies in a file or on stdin, one per line, sent in pieces. A line that is wrong keeps no other one out. */
import { egressAnswers } from '../client/egress-answers.ts';
import { asFailure } from '../domain/failure.ts';
import { parseProxyAddress } from '../domain/proxy-address.ts';
import { readLines } from './read-lines.ts';
import type { Ask } from './with-connection.ts';

export interface ImportResult {
  readonly added: number;
  readonly changed: number;
  readonly problems: readonly { readonly line: number; readonly reason: string }[];
}

interface Line {
  readonly line: number;
  readonly url: string;
}

const PIECE = 500;

export async function importProxies(
  ask: Ask,
  { path, details }: { path: string; details: Readonly<Record<string, unknown>> },
): Promise<ImportResult> {
  const problems: { line: number; reason: string }[] = [];
  const counts = { added: 0, changed: 0 };
  let piece: Line[] = [];
  for await (const { number, text } of readLines(path)) {
    if (text === '' || text.startsWith('#')) continue;
    try {
      parseProxyAddress(text);
      piece.push({ line: number, url: text });
    } catch (error) {
      problems.push({ line: number, reason: asFailure(error).message });
    }
    if (piece.length >= PIECE) await send();
  }
  await send();
  return { ...counts, problems };

  async function send(): Promise<void> {
    const lines = piece;
    piece = [];
    if (lines.length === 0) return;
    const body = { proxies: lines.map(({ url }) => ({ url, ...details })) };
    const answer = await ask('proxies.add', egressAnswers.added, body);
    for (const { known } of answer.proxies) counts[known ? 'changed' : 'added'] += 1;
    for (const { index, reason } of answer.problems) problems.push({ line: lines[index]?.line ?? 0, reason });
  }
}
