/**
 * Ready tasks lie in lanes: ten that are shared, one per priority, and ten more for a scraper that not all workers have.
 * A pull cannot choose among the tasks of a lane, so what some workers cannot run lies apart from what they can.
 */
import type { Routes } from '../domain/routes.ts';
import type { Names } from './names.ts';

export interface Lane {
  readonly priority: number;
  /** Absent: one of those that are shared. */
  readonly scraper?: string | undefined;
}

/** The subject under which a task becomes ready. */
export type Route = (spec: { priority: number; scraper: string; run: string; id: string }) => string;

export function createRoute(names: Names, routes: () => Routes): Route {
  return (spec) => (routes().own.includes(spec.scraper) ? names.only(spec) : names.task(spec));
}

/** The name of the consumer. */
export function laneName({ priority, scraper }: Lane): string {
  return scraper === undefined ? `p${priority}` : `p${priority}-${scraper}`;
}

export function parseLaneName(name: string): Lane | undefined {
  const [, priority, scraper] = /^p([0-9])(?:-(.+))?$/.exec(name) ?? [];
  return priority === undefined ? undefined : { priority: Number(priority), scraper };
}

export function laneFilter(names: Names, { priority, scraper }: Lane): string {
  return scraper === undefined
    ? `${names.namespace}.task.${priority}.>`
    : `${names.namespace}.only.${priority}.${scraper}.>`;
}

/** Everything that lies in the lanes of one scraper, or of it in the shared ones. */
export function placeFilter(names: Names, place: 'only' | 'task', scraper: string): string {
  return `${names.namespace}.${place}.*.${scraper}.*.*`;
}
