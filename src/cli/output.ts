/**
 * What a command prints. The answer goes to stdout: as text for a person, as one JSON document with `--json`.
 * Progress goes to stderr and only to a terminal, so that a pipe stays clean.
 */
import { hideUrlSecrets } from '../domain/secret.ts';
import type { Failure } from '../domain/failure.ts';

export interface Output {
  readonly json: boolean;
  result(value: unknown, text: string): void;
  progress(text: string): void;
  failure(failure: Failure): void;
}

export interface Streams {
  readonly out: { write(text: string): unknown };
  readonly err: { write(text: string): unknown; readonly isTTY?: boolean };
}

export function createOutput({ json, streams }: { json: boolean; streams: Streams }): Output {
  return {
    json,
    result: (value, text) =>
      void streams.out.write(json ? `${JSON.stringify(value, undefined, 2)}\n` : `${text}\n`),
    progress(text) {
      if (!json && streams.err.isTTY) streams.err.write(`${text}\n`);
    },
    failure({ code, message, hint }) {
      const shown = hideUrlSecrets(message);
      if (json)
        streams.out.write(`${JSON.stringify({ error: { code, message: shown, hint } }, undefined, 2)}\n`);
      else streams.err.write(`trawl: ${shown}\n${hint === undefined ? '' : `${hint}\n`}`);
    },
  };
}
