/** What programs import from `trawl`. */
export { loadConfig, type LoadedConfig } from './config/load.ts';
export type { Config } from './config/fields.ts';
export { startCluster, type Cluster, type ClusterOptions } from './cluster/start-cluster.ts';
export { Failure, type FailureCode } from './domain/failure.ts';
export { connectTrawl, type TrawlOptions } from './client/connect-trawl.ts';
export type { Client } from './client/client.ts';
export type { Task } from './client/pack-tasks.ts';
export type { TaskOutcome } from './client/results.ts';
export { defineScraper, type DefinedScraper, type ScraperDefinition } from './scrapers/define.ts';
export type { Enqueue, EnqueueOptions, EnqueueRequest, EnqueueResult } from './scrapers/enqueue.ts';
export type { Emit, Scraper, ScraperContext, ScraperEgress } from './scrapers/scraper.ts';
export type { Fetch, FetchOptions, Page, ParsedPage, SessionHandle } from './scrapers/page.ts';
export type { StandardSchema } from './scrapers/standard-schema.ts';
