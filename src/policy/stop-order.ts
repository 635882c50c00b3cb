/**
 * In which order the processes of a local cluster stop: first who only watches and adds, then who works, then who serves
 * the workers, and the servers of NATS last, because every drain needs them.
 */
const ORDER: readonly string[] = [
  'autoscaler',
  'exporter',
  'worker',
  'sink',
  'proxy-manager',
  'coordinator',
  'nats',
];

/** Groups to stop one after the other; the members of a group stop together. A role nobody knows stops first. */
export function planStopOrder<T extends { readonly role: string }>(processes: readonly T[]): T[][] {
  const groups = new Map<number, T[]>();
  for (const process of processes) {
    const place = ORDER.indexOf(process.role);
    groups.set(place, [...(groups.get(place) ?? []), process]);
  }
  return [...groups].sort(([a], [b]) => a - b).map(([, members]) => members);
}
