/** One field deep in what somebody else's API answered; undefined where it is not there or something else. */
export function readNumber(body: unknown, ...path: readonly string[]): number | undefined {
  const value = dig(body, path);
  return typeof value === 'number' ? value : undefined;
}

export function readText(body: unknown, ...path: readonly string[]): string | undefined {
  const value = dig(body, path);
  return typeof value === 'string' ? value : undefined;
}

export function readObject(body: unknown, ...path: readonly string[]): object | undefined {
  const value = dig(body, path);
  return typeof value === 'object' && value !== null ? value : undefined;
}

function dig(body: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null
        ? (value as Readonly<Record<string, unknown>>)[key]
        : undefined,
    body,
  );
}
