/** A value that no log line, error, JSON document or `inspect` prints. */
import { inspect } from 'node:util';

const HIDDEN = '[redacted]';

export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}

/** Text with the user part of every URL in it hidden: `nats://u:p@host` → `nats://***@host`. */
export function hideUrlSecrets(text: string): string {
  return text.replace(/\/\/[^/@\s]+@/g, '//***@');
}
