/** A value before it is parsed, with its origin, and the words in which a wrong one is reported. */
import type { Parsed, Raw } from './parsers.ts';
import type { Setting } from './catalogue.ts';

export interface Source {
  readonly kind: 'flag' | 'env' | 'file' | 'local' | 'default';
  /** As a person would look for it: `--nats-url`, `NATS_URL`, `config/trawl.yaml:3:8`. */
  readonly where: string;
}

export interface Given {
  readonly raw: Raw;
  readonly source: Source;
}

const SHOWN_CHARACTERS_MAX = 60;

export function joinRaw(raw: Raw): string {
  return typeof raw === 'string' ? raw : raw.join(',');
}

/** What was given, for a message. */
function quote(raw: Raw): string {
  const text = joinRaw(raw);
  // An @ ends the user part of a URL, and several lines are a pasted key: both may hold what nobody should read.
  if (/[@\p{Cc}]/u.test(text)) return 'a text that is not shown here because it may hold a secret';
  return JSON.stringify(
    text.length > SHOWN_CHARACTERS_MAX ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}…` : text,
  );
}

export function describeProblem(
  setting: Setting,
  given: Given,
  refused: Parsed<unknown> & { ok: false },
): string {
  const { parser } = setting.field;
  const start = `${given.source.where}: ${setting.path}`;
  if (refused.problem !== undefined) return `${start} ${refused.problem}`;
  const allowed = `${start} must be ${parser.allowed}`;
  return parser.secret ? allowed : `${allowed}, not ${quote(given.raw)}`;
}
