/** Where Prometheus finds the pages of all actors, in the form of its HTTP service discovery. */
import type { Beat } from '../domain/beat.ts';

export interface Target {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** An actor that listens on every address says so; others reach it by the name of its host. */
const EVERYWHERE = new Set(['0.0.0.0', '[::]']);

export function listTargets(beats: readonly Beat[]): Target[] {
  return beats.flatMap(({ role, id, host, status, http }) => {
    if (http === undefined || status === 'stopped' || !URL.canParse(http)) return [];
    const { hostname, port } = new URL(http);
    const name = EVERYWHERE.has(hostname) ? host : hostname;
    return [{ targets: [`${name}:${port}`], labels: { trawl_role: role, trawl_actor: id } }];
  });
}
