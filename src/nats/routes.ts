/** The record of who shares lanes: one coordinator writes it, everybody follows it. */
import { NO_ROUTES, parseRoutes, type Routes } from '../domain/routes.ts';
import { decode, encodeJson } from '../wire/codec.ts';
import { keys } from '../wire/names.ts';
import type { Bucket } from './bucket.ts';

/** Follows the record; resolves when what it says now was heard. What cannot be decoded says nothing. */
export async function watchRoutes(
  bucket: Bucket,
  signal: AbortSignal,
  onChange: () => void = () => undefined,
): Promise<() => Routes> {
  let routes = NO_ROUTES;
  await bucket.watch(
    keys.routes,
    ({ entry }) => {
      routes = entry ? readRoutes(entry.value) : NO_ROUTES;
      onChange();
    },
    signal,
  );
  return () => routes;
}

export interface RoutesRecord {
  readonly routes: Routes;
  readonly revision: number;
}

export async function loadRoutes(bucket: Bucket): Promise<RoutesRecord> {
  const entry = await bucket.get(keys.routes);
  return entry
    ? { routes: readRoutes(entry.value), revision: entry.revision }
    : { routes: NO_ROUTES, revision: 0 };
}

/** Throws CONFLICT where somebody else has changed it since it was read. */
export async function storeRoutes(bucket: Bucket, { routes, revision }: RoutesRecord): Promise<RoutesRecord> {
  return { routes, revision: await bucket.put(keys.routes, encodeJson(routes), { expect: revision }) };
}

function readRoutes(value: Uint8Array): Routes {
  try {
    return parseRoutes(decode(value));
  } catch {
    return NO_ROUTES;
  }
}
