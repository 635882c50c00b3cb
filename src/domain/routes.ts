/** Which scrapers share lanes, and which have lanes of their own. */
import * as v from 'valibot';

const scrapers = v.array(v.string());
const routesSchema = v.object({
  /** Who stands in the shared lanes has all of these. */
  shared: scrapers,
  /** Tasks of these are put into lanes of their own. */
  own: scrapers,
  /** These have lanes of their own, at least as long as something waits there. */
  open: scrapers,
  /** These had some: somebody who has not heard of it may still put something there. */
  closed: scrapers,
  /** Of `own`, those of which tasks still lie in the shared lanes. */
  mixed: scrapers,
});

export type Routes = Readonly<{ [key in keyof v.InferOutput<typeof routesSchema>]: readonly string[] }>;

/** All workers stand in the shared lanes. */
export const NO_ROUTES: Routes = { shared: [], own: [], open: [], closed: [], mixed: [] };

/** What cannot be read is as good as none: tasks still find their workers, if not at once. */
export function parseRoutes(value: unknown): Routes {
  const result = v.safeParse(routesSchema, value);
  return result.success ? result.output : NO_ROUTES;
}
