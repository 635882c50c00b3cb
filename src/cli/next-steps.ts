/** What to type next, with what it does behind it: lines that can be copied whole. */
export type Step = readonly [command: string, what: string];

export function renderSteps(steps: readonly Step[]): string[] {
  const width = Math.max(...steps.map(([command]) => command.length));
  return steps.map(([command, what]) => `  ${command.padEnd(width)}  # ${what}`);
}
