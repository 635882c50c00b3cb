/** One task for a person: where it is, why, and its last attempts. */
import { renderTable } from './table.ts';

export interface TaskStory {
  readonly where: string;
  readonly explanation: readonly string[];
  readonly faults: readonly Readonly<Record<string, unknown>>[];
  readonly [field: string]: unknown;
}

const FAULTS_MAX = 8;
const VALUE_MAX = 100;
const SHOWN = ['id', 'run', 'scraper', 'url', 'key', 'priority', 'createdAt', 'notBefore', 'at', 'worker'];

export function renderTask(story: TaskStory): string {
  const fields = SHOWN.filter((name) => story[name] !== undefined && story[name] !== null).map(
    (name) => `  ${name.padEnd(10)} ${cut(story[name])}`,
  );
  const lines = [`The task is ${story.where}.`, ...story.explanation.map((sentence) => cut(sentence, 400))];
  if (fields.length > 0) lines.push('', ...fields);
  const { faults } = story;
  if (faults.length === 0) return lines.join('\n');
  const last = faults.slice(-FAULTS_MAX);
  const left = faults.length - last.length;
  const rows = last.map(({ at, code, message, worker }) => [cut(at), cut(code), cut(worker), cut(message)]);
  lines.push('', renderTable(['FAILED AT', 'CODE', 'WORKER', 'MESSAGE'], rows));
  if (left > 0) lines.push(`(${left} earlier ones: --json has all)`);
  return lines.join('\n');
}

function cut(value: unknown, most = VALUE_MAX): string {
  if (value === undefined || value === null) return '-';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const line = text.replace(/\s+/g, ' ');
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
