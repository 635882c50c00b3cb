/** Runs of single mode as `trawl runs` lists and removes them: what is done without their servers. */
import { resolve } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { cleanHome } from '../../local/clean.ts';
import { bringDown } from '../../local/down.ts';
import { readLockHolder } from '../../local/home-lock.ts';
import { listSingleFolders, readSingleRecord, type SingleFolder } from '../../local/single-record.ts';
import { readText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { configHome } from '../local-cluster.ts';
import { renderAge, renderTable } from '../table.ts';

/** Those that were given no folder of their own; nobody knows of the others. */
export function listSingleRuns({ argv, config, output }: CommandContext): ExitCode {
  const [scraper, state] = [readText(argv, 'scraper'), readText(argv, 'state')];
  const runs = listSingleFolders(resolve(config.home))
    .map(describe)
    .filter((run) => (scraper ?? run.scraper) === run.scraper && (state ?? run.state) === run.state);
  const now = Date.now();
  const table = renderTable(
    ['RUN', 'SCRAPER', 'STATE', 'AGE', 'DATA'],
    runs.map(({ id, scraper, state, createdAt, data }) => [
      id,
      scraper,
      state,
      renderAge(now - createdAt),
      data,
    ]),
  );
  output.result({ runs }, runs.length === 0 ? 'No runs.' : table);
  return EXIT.ok;
}

function describe({ folder, record }: SingleFolder) {
  const { run: id, scraper, createdAt, ended } = record;
  const open = readLockHolder(folder) ? 'active' : 'interrupted';
  return { id, scraper, state: ended ?? open, createdAt, data: folder };
}

/** With its folder, of which nothing else is left. CONFLICT while somebody works in it. */
export async function removeSingleRun({ argv, output }: CommandContext, folder: string): Promise<ExitCode> {
  const run = readSingleRecord(folder)?.run;
  const named = readText(argv, 'run') ?? run;
  if (named !== run) throw new Failure('INVALID', `${folder} holds run ${run ?? ''}, not ${named ?? ''}`);
  await bringDown({ home: folder }, ({ text }) => output.progress(`… ${text}`));
  const { kept } = cleanHome({ home: folder, configHome: configHome() });
  const left = kept.length > 0 ? ` Left alone, because not ours: ${kept.join(', ')}.` : '';
  output.result({ run, data: folder, kept }, `Run ${run ?? ''} is removed, with ${folder}.${left}`);
  return EXIT.ok;
}
