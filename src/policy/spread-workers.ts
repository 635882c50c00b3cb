/** How many of the workers that are wanted run on this machine, and how many machines all of them need. */
export interface Spread {
  readonly here: number;
  readonly machines: number;
}

/** `perMachine`: 0 is no limit. */
export function spreadWorkers({
  wanted,
  perMachine,
}: {
  readonly wanted: number;
  readonly perMachine: number;
}): Spread {
  if (perMachine === 0 || wanted <= perMachine) return { here: wanted, machines: 1 };
  return { here: perMachine, machines: Math.ceil(wanted / perMachine) };
}
