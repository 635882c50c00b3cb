#!/usr/bin/env node
/** The program: argv → one command → an exit code. */
import yargs, { type Argv } from 'yargs';
import { hideBin } from 'yargs/helpers';
import { flagOptions, type FlagOption } from '../config/flags.ts';
import { asFailure } from '../domain/failure.ts';
import { VERSION } from '../version.ts';
import { columnsOf } from './columns.ts';
import type { Command, CommandContext, Effect, SingleNeed } from './command.ts';
import { commands } from './commands.ts';
import { EXIT, exitCodeOf, type ExitCode } from './exit.ts';
import { watchInterrupts } from './interrupt.ts';
import { isLeaving, leave, leaveNothingBehind } from './leaving.ts';
import { loadSettings } from './load-settings.ts';
import { createOutput } from './output.ts';
import { createProcessLog } from '../telemetry/log.ts';
import { explainMistake, keepDashes, readWords } from './words.ts';

const streams = { out: process.stdout, err: process.stderr };
const SINGLE_OPTIONS = {
  data: { type: 'string', nargs: 1, describe: 'Folder of a run of single mode, if not .trawl/single/RUN' },
  distributed: { type: 'boolean', default: false, describe: 'The run is on the cluster, not in a folder' },
} as const;

// Whoever read our log may go away; that is no reason to end. Whoever read our answer and goes away has enough of it.
process.stderr.on('error', () => undefined);
process.stdout.on('error', () => void leave(EXIT.ok));

process.exitCode = await main(hideBin(process.argv));
await leaveNothingBehind();

async function main(words: string[]): Promise<ExitCode> {
  // Known before the arguments are parsed, because a mistake in them has to be told in the right form too.
  const output = createOutput({ json: words.includes('--json'), streams });
  let exit: ExitCode = EXIT.ok;

  const execute = async (command: Command, parsed: Readonly<Record<string, unknown>>): Promise<void> => {
    const argv = readWords(parsed);
    const loaded = loadSettings({
      ...argv,
      ...Object.fromEntries((command.own ?? []).map((name) => [name, undefined])),
    });
    const { config } = loaded;
    const log = createProcessLog(config.log);
    const { run } = await command.load();
    const context = { config, loaded, log, output, argv, interrupts: watchInterrupts };
    const needs = typeof command.single === 'function' ? command.single(argv) : command.single;
    exit = await (needs ? runAtRun(context, needs, run) : run(context));
  };

  try {
    await createParser(words, execute).parseAsync();
  } catch (error) {
    if (isLeaving()) return exit;
    const failure = asFailure(error);
    output.failure(failure);
    if (failure.code === 'INTERNAL' && process.env['TRAWL_LOG_LEVEL'] === 'debug')
      process.stderr.write(`${failure.stack ?? ''}\n`);
    return exitCodeOf(failure.code);
  }
  return exit;
}

/** Loaded when there may be such a run: few commands need a server of their own. */
async function runAtRun(context: CommandContext, needs: SingleNeed, effect: Effect): Promise<ExitCode> {
  const { runWhereTheRunIs } = await import('./single/look.ts');
  return runWhereTheRunIs(context, needs, effect);
}

type Execute = (command: Command, argv: Readonly<Record<string, unknown>>) => Promise<void>;

function createParser(words: string[], execute: Execute): Argv {
  const parser: Argv = yargs(keepDashes(words))
    .scriptName('trawl')
    .usage('$0 <command>\n\nA distributed scraping cluster on NATS JetStream.')
    .version(VERSION)
    .option('json', { type: 'boolean', default: false, describe: 'Answer with JSON on stdout' })
    .parserConfiguration({ 'camel-case-expansion': false, 'duplicate-arguments-array': true })
    .demandCommand(1, 'Say what to do: trawl <command>. `trawl --help` lists the commands.')
    .recommendCommands()
    .strict()
    .wrap(Math.min(110, columnsOf(process.stdout) ?? 110))
    .epilogue('`trawl <command> --help` shows examples and settings.')
    .exitProcess(false)
    .locale('en') // like everything else that it says
    .fail((message: string | null, error: Error | undefined) => {
      throw error ?? explainMistake(message ?? 'wrong arguments', words, namesOf(parser));
    });
  const asksHelp = words.includes('--help');
  for (const command of commands) addCommand(parser, command, { asksHelp, execute });
  return parser;
}

function addCommand(
  parser: Argv,
  command: Command,
  { asksHelp, execute }: { readonly asksHelp: boolean; readonly execute: Execute },
): void {
  parser.command(
    command.usage,
    command.describe as string, // yargs takes `false` too; its types do not know
    (yargs) => {
      // Yargs lays out the help of every command that it runs, and of many settings that takes a while.
      const shown = asksHelp ? flagOptions(command.sections) : {};
      // In one go: what was hidden once stays hidden.
      yargs.options({ ...hidden(flagOptions(), command.own), ...shown });
      for (const [example, meaning] of command.examples) yargs.example(example, meaning);
      if (command.single) yargs.options(SINGLE_OPTIONS);
      return command.options?.(yargs) ?? yargs;
    },
    (argv) => execute(command, argv),
  );
}

function namesOf(parser: Argv): string[] {
  // Its types do not know that it can tell.
  return Object.keys((parser as Argv & { getOptions(): { readonly key: object } }).getOptions().key);
}

/** Every setting works with every command; help lists those that matter to it. */
function hidden(
  options: ReturnType<typeof flagOptions>,
  own: readonly string[] = [],
): Record<string, FlagOption & { hidden: true }> {
  return Object.fromEntries(
    Object.entries(options)
      .filter(([name]) => !own.includes(name))
      .map(([name, option]) => [name, { ...option, hidden: true } as const]),
  );
}
