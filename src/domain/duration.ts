/** `250ms`, `30s`, `5m`, `1.5h` → milliseconds; a plain number is milliseconds too. Undefined: it is no duration. */

const MS_PER_UNIT: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

export function parseDuration(text: string): number | undefined {
  const [, amount, unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const unitMs = MS_PER_UNIT[unit];
  return amount === undefined || unitMs === undefined ? undefined : Math.round(Number(amount) * unitMs);
}
