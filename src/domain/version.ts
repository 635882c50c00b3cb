/** Oldest server with everything we build on: message schedules with cron, per-message TTL, atomic batches. */
export const MIN_SERVER_VERSION = '2.14.0';

/** `2.15.1` ≥ `2.14.0`, field by field; a suffix such as `-preview` does not count. */
export function isAtLeast(version: string, minimum: string): boolean {
  const have = fieldsOf(version);
  const want = fieldsOf(minimum);
  for (const [index, field] of want.entries()) {
    const own = have[index] ?? 0;
    if (own !== field) return own > field;
  }
  return true;
}

function fieldsOf(version: string): number[] {
  return (version.split('-')[0] ?? '').split('.').map((field) => Number.parseInt(field, 10) || 0);
}
