/** The file of `egress.hostsFile`: limits of single hosts, as YAML. Everything that is wrong in it is told at once, by line. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isAlias, isMap, isScalar, LineCounter, parseDocument, type Document } from 'yaml';
import type { HostLimits } from '../domain/egress.ts';
import { Failure, messageOf } from '../domain/failure.ts';
import type { HostRule } from '../domain/host-rules.ts';
import { pickNearest } from '../domain/nearest.ts';
import { duration, integer, type Parser } from './parsers.ts';

const amount = integer({ min: 0, max: 1_000_000_000 });
const delay = duration({ minMs: 0 });

/** The words of the file. Those of one egress are kept apart from those of all. */
const WORDS = {
  delay: [delay, (value) => ({ delayMs: value })],
  egressDelay: [delay, (value) => ({ egressDelayMs: value })],
  jitter: [integer({ min: 0, max: 1_000 }), (value) => ({ jitter: value / 100 })],
  concurrency: [amount, (value) => ({ concurrency: value })],
  perHour: [amount, (value) => ({ perHour: value })],
  perMinute: [amount, (value) => ({ perMinute: value })],
  egressPerHour: [
    amount,
    (value, { egressCaps }) => ({ egressCaps: { ...NO_CAPS, ...egressCaps, perHour: value } }),
  ],
  egressPerMinute: [
    amount,
    (value, { egressCaps }) => ({ egressCaps: { ...NO_CAPS, ...egressCaps, perMinute: value } }),
  ],
} as const satisfies Record<string, readonly [Parser<number>, Change]>;

type Limits = Partial<HostLimits>;
type Change = (value: number, before: Limits) => Limits;

const NO_CAPS = { perHour: 0, perMinute: 0 };
const PATTERN = /^(\*|(\*\.)?[-_a-z0-9]+(\.[-_a-z0-9]+)*(:\d{1,5})?)$/;
const FILE_MAX_BYTES = 4 * 1024 * 1024;

/** Throws `INVALID` with all problems. */
export function readHostRules(path: string, cwd: string): HostRule[] {
  let text: string;
  try {
    text = readFileSync(resolve(cwd, path), 'utf8');
  } catch (cause) {
    throw new Failure('INVALID', `egress.hostsFile: ${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
  if (text.length > FILE_MAX_BYTES)
    throw new Failure('INVALID', `egress.hostsFile: ${path} is over ${FILE_MAX_BYTES} bytes`);
  const { rules, problems } = parseHostRules(text, path);
  if (problems.length === 0) return rules;
  throw new Failure(
    'INVALID',
    ['The limits of hosts have problems:', ...problems.map((line) => `  ${line}`)].join('\n'),
    {
      hint: 'config/hosts.yaml shows how they are written.',
    },
  );
}

export function parseHostRules(text: string, path: string): { rules: HostRule[]; problems: string[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const rules: HostRule[] = [];
  const problems: string[] = [];
  const report = (node: unknown, problem: string): void => {
    const { line, col } = lines.linePos(offsetOf(node));
    problems.push(`${path}:${line}:${col}: ${problem}`);
  };

  for (const { pos } of [...document.errors, ...document.warnings])
    problems.push(`${path}:${lines.linePos(pos[0]).line}: this is not valid YAML, or a key comes twice`);
  if (problems.length > 0 || isEmpty(document.contents)) return { rules, problems };
  if (!isMap(document.contents))
    report(document.contents, 'the file must hold lines of "host:", with limits below');
  else for (const { key, value } of document.contents.items) readRule(key, value);
  return { rules, problems };

  function readRule(key: unknown, node: unknown): void {
    const pattern = isScalar(key) ? String(key.value).toLowerCase() : '';
    if (!PATTERN.test(pattern)) {
      report(key, 'this is not a host; write example.com, "*.example.com", example.com:8080 or "*"');
      return;
    }
    const target = resolved(document, node);
    if (!isMap(target)) {
      report(key, `the limits of ${pattern} must be lines of "name: value"`);
      return;
    }
    let limits: Limits = {};
    for (const { key: word, value } of target.items)
      limits = { ...limits, ...readLimit(word, value, limits) };
    rules.push({ pattern: pattern.replace(':', '='), limits });
  }

  function readLimit(key: unknown, node: unknown, before: Limits): Limits {
    const word = isScalar(key) ? String(key.value) : '';
    if (!isWord(word)) {
      const nearest = pickNearest(word, Object.keys(WORDS));
      report(
        key,
        `${word || 'this'} is not a limit of a host${nearest === undefined ? '' : `; did you mean ${nearest}?`}`,
      );
      return {};
    }
    const [parser, change] = WORDS[word];
    const value = resolved(document, node);
    const parsed = isScalar(value) ? parser.parse(value.source ?? String(value.value)) : undefined;
    if (parsed?.ok) return (change as Change)(parsed.value, before);
    report(value ?? key, `${word} must be ${parser.allowed}`);
    return {};
  }
}

function isWord(word: string): word is keyof typeof WORDS {
  return Object.hasOwn(WORDS, word);
}

function resolved(document: Document, node: unknown): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

function isEmpty(node: unknown): boolean {
  return node === null || node === undefined || (isScalar(node) && node.value === null);
}

function offsetOf(node: unknown): number {
  return isScalar(node) || isMap(node) || isAlias(node) ? (node.range?.[0] ?? 0) : 0;
}
