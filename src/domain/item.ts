/** What a handler emitted: plain data, or data of a kind, which is stored as `{ kind, data }`. */
export interface Item {
  readonly kind?: string;
  readonly data: unknown;
}

export function readItem(stored: unknown): Item {
  if (typeof stored !== 'object' || stored === null || Array.isArray(stored)) return { data: stored };
  const { kind, data, ...rest } = stored as Readonly<Record<string, unknown>>;
  if (typeof kind !== 'string' || !('data' in stored) || Object.keys(rest).length > 0)
    return { data: stored };
  return { kind, data };
}
