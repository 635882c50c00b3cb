/**
 * The workers of a running local cluster, more and fewer: whoever decides how many there should be asks for it here. A
 * worker is let go when it drains already: it ends in its own time, and its place is free again.
 */
import { Failure } from '../domain/failure.ts';
import { planActor } from './child-specs.ts';
import { createChild, type Child, type ChildDeps } from './child.ts';
import type { Layout } from './layout.ts';
import type { ClusterPlan } from './plan.ts';

export interface FurtherWorkers {
  addWorkers(count: number): Promise<void>;
  letGo(name: string): void;
}

export interface FurtherParts {
  readonly plan: ClusterPlan;
  readonly layout: Layout;
  /** Changed here. */
  readonly actors: Child[];
  readonly deps: ChildDeps;
  readonly isUp: () => boolean;
  readonly save: () => void;
}

const AT_ONCE_MAX = 100;

export function createFurtherWorkers(parts: FurtherParts): FurtherWorkers {
  const { plan, layout, actors, deps, isUp, save } = parts;
  return { addWorkers, letGo };

  async function addWorkers(count: number): Promise<void> {
    const template = plan.furtherWorker;
    if (!isUp()) throw new Failure('CONFLICT', 'the cluster is not up');
    if (!template || count > AT_ONCE_MAX)
      throw new Failure('INVALID', `this cluster does not start ${count} workers more`);
    forgetEnded();
    const added = Array.from({ length: count }, () => {
      const id = freeName();
      const args = template.args.map((word) => (word === '{id}' ? id : word));
      const child = createChild(planActor(plan, layout, { role: 'worker', id, args }), deps);
      actors.push(child);
      return child;
    });
    for (const child of added) child.start();
    await Promise.all(added.map((child) => child.firstUp));
  }

  function letGo(name: string): void {
    const child = actors.find((each) => each.view().name === name);
    if (child?.view().role !== 'worker')
      throw new Failure('INVALID', `no worker ${name} was started by this cluster`);
    void child.letGo().then(() => {
      remove(child);
      save();
    });
  }

  /** Those that ended as they were told, or that will never run, make room for new ones. */
  function forgetEnded(): void {
    for (const child of [...actors]) {
      const { role, state } = child.view();
      if (role === 'worker' && (state === 'stopped' || state === 'failed')) remove(child);
    }
  }

  function remove(child: Child): void {
    const place = actors.indexOf(child);
    if (place >= 0) actors.splice(place, 1);
  }

  function freeName(): string {
    const taken = new Set(actors.map((child) => child.view().name));
    for (let number = 1; ; number += 1) if (!taken.has(`worker-${number}`)) return `worker-${number}`;
  }
}
