/** `trawl dev`: `trawl try` again, in a process of its own each time, whenever a file of the scrapers has changed. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { statSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { Failure, messageOf } from '../../domain/failure.ts';
import { requireText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';

/** Editors write a file in several steps. */
const QUIET_MS = 100;
const KILL_AFTER_MS = 2_000;
const OWN_FILES = /\.(?:m?[jt]s|ya?ml|json)$/;

export async function run(context: CommandContext): Promise<ExitCode> {
  const name = requireText(context.argv, 'name', 'trawl dev <name> --url https://example.com/');
  const stop = context.interrupts();
  const folders = foldersOf(name, context.config.worker.scrapers);
  let timer: NodeJS.Timeout | undefined;
  let child: ChildProcess | undefined;

  const again = (): void => {
    if (stop.aborted) return;
    end(child);
    child = startTry();
    child.once('close', () => tellWaiting(folders));
  };
  const changed = (file: string | null): void => {
    if (file !== null && !OWN_FILES.test(file)) return;
    clearTimeout(timer);
    timer = setTimeout(again, QUIET_MS);
  };
  const watchers = folders.map((folder) => open(folder, changed));
  again();
  if (!stop.aborted) await once(stop, 'abort');
  clearTimeout(timer);
  for (const watcher of watchers) watcher.close();
  if (child && child.exitCode === null && child.signalCode === null) {
    end(child);
    await once(child, 'close');
  }
  return EXIT.ok;
}

/** The same words as ours, but for the command. */
function startTry(): ChildProcess {
  const [, program = '', ...words] = process.argv;
  const at = words.indexOf('dev');
  const given = [program, ...words.slice(0, at), 'try', ...words.slice(at + 1)];
  return spawn(process.execPath, [...process.execArgv, ...given], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

function end(child: ChildProcess | undefined): void {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.removeAllListeners('close');
  child.kill('SIGTERM');
  const kill = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  child.once('close', () => clearTimeout(kill));
}

function tellWaiting(folders: readonly string[]): void {
  process.stderr.write(`\n— waiting for a change in ${folders.join(', ')}; Ctrl-C ends —\n\n`);
}

function foldersOf(name: string, places: readonly string[]): readonly string[] {
  const given = /[/\\]|\.\w+$/.test(name) ? [name] : places;
  const folders = given.flatMap((place) => {
    const found = statSync(place, { throwIfNoEntry: false });
    return found ? [found.isDirectory() ? place : dirname(place)] : [];
  });
  if (folders.length > 0) return folders;
  throw new Failure('INVALID', `there is no folder to watch: ${given.join(', ')}`, {
    hint: '`trawl new <name>` makes one, with a scraper in it.',
  });
}

function open(folder: string, changed: (file: string | null) => void): ReturnType<typeof watch> {
  try {
    return watch(folder, (_event, file) => changed(file));
  } catch (cause) {
    throw new Failure('INVALID', `${folder} cannot be watched: ${messageOf(cause)}`, { cause });
  }
}
