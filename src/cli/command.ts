/** What a command of the CLI is, and what it gets: its configuration, its log, its output, its arguments. */
import type { Argv } from 'yargs';
import type { SectionName } from '../config/fields.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Config } from '../config/fields.ts';
import type { Log } from '../telemetry/log.ts';
import type { ExitCode } from './exit.ts';
import type { Output } from './output.ts';

export interface CommandContext {
  readonly config: Config;
  readonly loaded: LoadedConfig;
  readonly log: Log;
  readonly output: Output;
  readonly argv: Readonly<Record<string, unknown>>;
  /** The folder of the run that the command is about, if that is one of single mode. */
  readonly singleFolder?: string;
  /** From its first call on: aborts at the first SIGINT or SIGTERM; the second ends the process. */
  readonly interrupts: () => AbortSignal;
}

/**
 * What a command about a run needs where that is one of single mode: a server, a coordinator too, somebody who works on
 * the run, a server for an actor (which drains by itself at Ctrl-C), or its folder alone.
 */
export type SingleNeed = 'server' | 'coordinator' | 'running' | 'actor' | 'folder';

/** What a command does; resolves to the exit code of the program. */
export type Effect = (context: CommandContext) => Promise<ExitCode>;

/**
 * What `--help` needs to know about a command. What the command does is in a module of `effects/`, loaded when this
 * command is the chosen one, so that nobody waits for what the other commands need.
 */
export interface Command {
  /** As yargs takes it: `name <required> [optional]`; `false` as the description hides it. */
  readonly usage: string;
  readonly describe: string | false;
  readonly examples: readonly (readonly [command: string, meaning: string])[];
  /** Sections of the configuration whose flags this command's help lists; the others work too. */
  readonly sections: readonly SectionName[];
  readonly options?: (yargs: Argv) => Argv;
  /** Options of this command that elsewhere are the flag of a setting: here they are none. */
  readonly own?: readonly string[];
  /** It is about the run in `run`, which may be one of single mode: this is what it needs there. */
  readonly single?: SingleNeed | ((argv: CommandContext['argv']) => SingleNeed);
  readonly load: () => Promise<{ readonly run: Effect }>;
}
