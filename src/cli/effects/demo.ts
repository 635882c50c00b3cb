/** `trawl demo`: the demo site, a run on the cluster, a bar, a table; and what a killed worker costs, if asked for. */
import { PAGE_SIZE } from '../../demo-site/listing-pages.ts';
import { answers, type RunSummary } from '../../client/answers.ts';
import { hasEnded } from '../../client/run-end.ts';
import { asFailure, Failure } from '../../domain/failure.ts';
import { readLocalStatus } from '../../local/status.ts';
import { readText, readWhole } from '../arguments.ts';
import { columnsOf } from '../columns.ts';
import type { CommandContext } from '../command.ts';
import { killOneWorker, type Killed } from '../demo/kill-worker.ts';
import { openSite, type OpenSite } from '../demo/open-site.ts';
import { gatherOutcomes, type Gathered } from '../demo/outcomes.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { followRun } from '../follow-run.ts';
import { renderSteps, type Step } from '../next-steps.ts';
import { renderCount } from '../progress-bar.ts';
import { renderItems } from '../result-table.ts';
import { describeEnd } from '../run-summary.ts';
import { withClient, type Ask, type ClusterAccess } from '../with-connection.ts';

/** Two products that are not there, a page that robots.txt forbids, and one that the template does not know. */
const MISSING = ['/product/0', '/product/999999', '/private/1', '/login'];
const PRODUCTS = 300;
const OWN_PAGES = 5;
const SHOWN_MAX = 10;
const NAMES_MAX = 1_000;
/** So much of the run is done when a worker is killed. */
const KILL_AT = 0.3;

export async function run(context: CommandContext): Promise<ExitCode> {
  const { argv, config, output } = context;
  const scraper = readText(argv, 'scraper') ?? 'catalogue';
  const stop = context.interrupts();
  return withClient(context, 'demo', async (access) => {
    const name = await chooseName(access.ask, readText(argv, 'run-id'));
    const products = readWhole(argv, 'products', { min: 1, max: 100_000 }) ?? PRODUCTS;
    const { cluster } = await readLocalStatus(config.home);
    const portBase = cluster?.ports.client[0] ?? config.local.portBase;
    const site = await openSite({ portBase, products });
    try {
      output.progress(`The demo site is at ${site.url}; the run is called ${name}.`);
      const ended = await scrape(context, { access, site, scraper, name, stop });
      const gathered = await gatherOutcomes(access.client, name);
      const facts = { ...ended, site, gathered, scraper };
      output.result(tell(facts), describe(facts));
      return isAsPlanned(facts) ? EXIT.ok : EXIT.deadTasks;
    } finally {
      await site.close();
    }
  });
}

interface Ended {
  readonly summary: RunSummary;
  readonly killed: Killed | undefined;
}

interface Facts extends Ended {
  readonly site: OpenSite;
  readonly gathered: Gathered;
  readonly scraper: string;
}

async function scrape(
  { argv, config, output }: CommandContext,
  options: {
    readonly access: ClusterAccess;
    readonly site: OpenSite;
    readonly scraper: string;
    readonly name: string;
    readonly stop: AbortSignal;
  },
): Promise<Ended> {
  const { access, site, scraper, name, stop } = options;
  const kills = argv['kill'] === true;
  let killing: Promise<Killed> | undefined;
  await access.client.run(scraper, addressesOf(site, scraper), { run: name });
  const summary = await followRun({
    ask: access.ask,
    run: name,
    output,
    quiet: true,
    until: stop,
    onLook({ counts }) {
      if (!kills || killing || counts.done < site.products * KILL_AT) return;
      killing = killOneWorker(config.home, counts);
      killing.catch(() => undefined); // it is waited for below
    },
  });
  if (kills && !killing)
    throw new Failure('CONFLICT', 'the run was over before a worker could be killed', {
      hint: 'Take a larger site: --products 5000.',
    });
  return { summary, killed: await killing };
}

/** All pages of the list at once: the bar would not know how far it is if each led to the next. */
function addressesOf({ url, products }: OpenSite, scraper: string): string[] {
  const lists = Array.from({ length: Math.ceil(products / PAGE_SIZE) }, (_, n) => `/catalogue?page=${n + 1}`);
  if (scraper === 'catalogue') return [...lists, ...MISSING].map((path) => `${url}${path}`);
  return Array.from({ length: OWN_PAGES }, (_, n) => `${url}/product/${n + 1}`);
}

/** The first that no run has. */
async function chooseName(ask: Ask, given: string | undefined): Promise<string> {
  for (let number = 1; number <= NAMES_MAX; number += 1) {
    const name = given ?? (number === 1 ? 'demo' : `demo-${number}`);
    const known = await ask('run.show', answers.runWithCounts, { run: name }).catch((error: unknown) => {
      if (asFailure(error).code !== 'INVALID') throw error;
    });
    if (!known) return name;
    if (given !== undefined)
      throw new Failure('CONFLICT', `there is a run ${name}${hasEnded(known) ? ', which has ended' : ''}`);
  }
  throw new Failure('CONFLICT', `there are ${NAMES_MAX} runs called demo`);
}

/** The four pages are dead, as they should be; of a scraper of one's own nothing is known. */
function isAsPlanned({ summary, scraper }: Facts): boolean {
  return summary.counts.dead === (scraper === 'catalogue' ? MISSING.length : 0);
}

function tell({ summary, killed, gathered, site }: Facts): object {
  const { items, outcomes, twice } = gathered;
  return {
    run: summary.id,
    state: summary.state,
    counts: summary.counts,
    site: site.url,
    outcomes,
    twice,
    ...(killed && { killed: killed.worker, pid: killed.pid }),
    pagesAskedForTwice: site.askedTwice(),
    items: items.slice(0, SHOWN_MAX),
  };
}

function describe(facts: Facts): string {
  const { summary, killed, gathered, site } = facts;
  const { id, counts } = summary;
  const lines = [describeEnd(summary).split('\n')[0] ?? '', ''];
  if (gathered.items.length > 0) {
    lines.push(renderItems(gathered.items.slice(0, SHOWN_MAX), columnsOf(process.stdout)));
    const more = gathered.items.length - SHOWN_MAX;
    if (more > 0) lines.push(`… and ${renderCount(more)} more`);
    lines.push('');
  }
  if (killed) {
    lines.push(
      `${killed.worker} (pid ${killed.pid}) was killed with SIGKILL after ${renderCount(killed.settled)} tasks. ${renderCount(counts.total)} tasks have ${renderCount(gathered.outcomes)} outcomes,`,
      `${renderCount(gathered.twice)} of them twice; pages that the site was asked for a second time: ${renderCount(site.askedTwice())}.`,
      '',
    );
  }
  lines.push('Next:', ...renderSteps(nextSteps(facts, id)));
  return lines.join('\n');
}

function nextSteps({ summary, killed, scraper }: Facts, id: string): Step[] {
  const steps: Step[] = [[`npx trawl results ${id}`, 'all items; in a pipe one JSON line each']];
  if (summary.counts.dead > 0)
    steps.push([`npx trawl dead ls --run ${id}`, 'what could not be had, and why']);
  if (!killed && scraper === 'catalogue')
    steps.push(['npx trawl demo --kill', 'once more, with kill -9 of a worker in the middle']);
  return [...steps, ['npx trawl new shop', 'a scraper of your own']];
}
