/**
 * Log lines: `event` in the past tense, ids, numbers with units. JSON in a pipe, text on a terminal.
 * Nothing secret gets through: values under telling keys and the user part of URLs are hidden.
 */
import { hideUrlSecrets } from '../domain/secret.ts';

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type Level = (typeof LEVELS)[number];
export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  /** A logger whose lines carry these fields too; it follows this one's level. */
  child(fields: LogFields): Log;
  setLevel(level: Level): void;
  level(): Level;
}

export interface LogOptions {
  readonly level: Level;
  readonly format: 'json' | 'text';
  readonly write: (line: string) => void;
  readonly now?: () => number;
}

const SECRET_KEY =
  /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key|password|pass|token|secret|nkey|seed)$/i;

export function createLog(options: LogOptions): Log {
  const state = { level: options.level };
  const now = options.now ?? Date.now;
  return make({});

  function make(inherited: LogFields): Log {
    const at =
      (level: Level) =>
      (event: string, fields: LogFields = {}) => {
        if (LEVELS.indexOf(level) < LEVELS.indexOf(state.level)) return;
        const line = { time: new Date(now()).toISOString(), level, event, ...inherited, ...fields };
        options.write(options.format === 'json' ? toJson(line) : toText(line));
      };
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => make({ ...inherited, ...fields }),
      setLevel: (level) => void (state.level = level),
      level: () => state.level,
    };
  }
}

/** Where a program that is not a library writes its log: stderr, so that stdout stays for answers. */
export function createProcessLog(options: { level: Level; format: 'auto' | 'json' | 'text' }): Log {
  const format = options.format === 'auto' ? (process.stderr.isTTY ? 'text' : 'json') : options.format;
  return createLog({ level: options.level, format, write: (line) => process.stderr.write(`${line}\n`) });
}

function toJson(line: Record<string, unknown>): string {
  return JSON.stringify(line, (key, value: unknown) => printable(key, value));
}

function toText({ time, level, event, ...fields }: Record<string, unknown>): string {
  const clock = String(time).slice(11, 23);
  const rest = Object.entries(fields).map(([key, value]) => {
    const shown = printable(key, value);
    return `${key}=${typeof shown === 'string' ? shown : JSON.stringify(shown, (inner, v: unknown) => printable(inner, v))}`;
  });
  return [clock, String(level).toUpperCase().padEnd(5), String(event), ...rest].join(' ');
}

function printable(key: string, value: unknown): unknown {
  if (SECRET_KEY.test(key)) return '[redacted]';
  if (typeof value === 'string') return hideUrlSecrets(value);
  if (value instanceof Error) return hideUrlSecrets(value.message);
  if (typeof value === 'bigint') return value.toString();
  return value;
}
