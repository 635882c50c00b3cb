/** The demo site for one run: our own, or the one that somebody has started already. */
import { startDemoSite } from '../../demo-site/site.ts';
import { Failure } from '../../domain/failure.ts';
import { demoSitePort } from '../../local/layout.ts';

export interface OpenSite {
  readonly url: string;
  readonly products: number;
  /** Pages that were fetched more than once; only our own site can tell. */
  askedTwice(): number;
  close(): Promise<void>;
}

const ANSWER_MAX_MS = 2_000;

export async function openSite(options: {
  readonly portBase: number;
  readonly products: number;
}): Promise<OpenSite> {
  const { products } = options;
  const port = demoSitePort(options.portBase);
  try {
    const site = await startDemoSite({ port, products });
    return {
      url: site.url,
      products,
      askedTwice: () =>
        countRepeated(site.log.map(({ path }) => path).filter((path) => path !== '/robots.txt')),
      close: () => site.close(),
    };
  } catch (error) {
    if (!(error instanceof Failure && isTaken(error))) throw error;
    return visitSite(`http://127.0.0.1:${port}`, products);
  }
}

function isTaken({ cause }: { readonly cause?: unknown }): boolean {
  return (cause as { readonly code?: unknown } | undefined)?.code === 'EADDRINUSE';
}

async function visitSite(url: string, products: number): Promise<OpenSite> {
  const answer = await fetch(`${url}/__stats`, { signal: AbortSignal.timeout(ANSWER_MAX_MS) }).catch(
    () => undefined,
  );
  if (!answer?.ok)
    throw new Failure('CONFLICT', `something that is no demo site listens at ${url}`, {
      hint: 'Another --port-base moves all ports of the cluster, this one among them.',
    });
  return { url, products, askedTwice: () => 0, close: () => Promise.resolve() };
}

function countRepeated(paths: readonly string[]): number {
  const seen = new Map<string, number>();
  for (const path of paths) seen.set(path, (seen.get(path) ?? 0) + 1);
  return [...seen.values()].filter((count) => count > 1).length;
}
