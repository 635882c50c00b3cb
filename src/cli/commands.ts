/** Every command, in the order in which `trawl --help` lists them. */
import type { Command } from './command.ts';
import { actorCommands } from './commands/actor.ts';
import { configCommand } from './commands/config.ts';
import { doctorCommand } from './commands/doctor.ts';
import { downCommand } from './commands/down.ts';
import { statusCommand } from './commands/status.ts';
import { superviseCommand } from './commands/supervise.ts';
import { topologyCommand } from './commands/topology.ts';
import { upCommand } from './commands/up.ts';

export const commands: readonly Command[] = [
  upCommand,
  downCommand,
  statusCommand,
  doctorCommand,
  topologyCommand,
  configCommand,
  ...actorCommands,
  superviseCommand,
];
