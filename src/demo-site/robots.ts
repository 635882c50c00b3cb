/** What /robots.txt says, and how. */
export type Robots =
  | { readonly disallow: readonly string[]; readonly crawlDelayS?: number; readonly agent?: string }
  /** There is no file, or no good answer. */
  | { readonly status: number };

export const DEFAULT_ROBOTS: Robots = { disallow: ['/private/', '/account'] };

export function renderRobots(robots: Exclude<Robots, { status: number }>, origin: string): string {
  return [
    '# Be kind.',
    `User-agent: ${robots.agent ?? '*'}`,
    ...robots.disallow.map((path) => `Disallow: ${path}`),
    ...(robots.crawlDelayS === undefined ? [] : [`Crawl-delay: ${robots.crawlDelayS}`]),
    '',
    `Sitemap: ${origin}/sitemap.xml`,
    '',
  ].join('\n');
}
