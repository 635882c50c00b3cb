/** The rules of Prometheus that we ship, read. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectRoot } from '../../src/project-root.ts';

export interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export const RULE_FOLDER = join(projectRoot, 'config/prometheus');

export function readRules(file: 'records.yml' | 'alerts.yml'): Rule[] {
  const { groups } = parse(readFileSync(join(RULE_FOLDER, file), 'utf8')) as {
    groups: { name: string; rules: Rule[] }[];
  };
  return groups.flatMap(({ rules }) => rules);
}

export function recordedSeries(): string[] {
  return readRules('records.yml').flatMap(({ record }) => record ?? []);
}
