/** Every command, in the order in which `trawl --help` lists them. */
import type { Command } from './command.ts';
import { actorCommands } from './commands/actor.ts';
import { cancelCommand } from './commands/cancel.ts';
import { configCommand } from './commands/config.ts';
import { deadCommand } from './commands/dead.ts';
import { demoSiteCommand } from './commands/demo-site.ts';
import { doctorCommand } from './commands/doctor.ts';
import { downCommand } from './commands/down.ts';
import { pauseCommand, resumeCommand } from './commands/pause.ts';
import { hostsCommand } from './commands/hosts.ts';
import { proxiesCommand } from './commands/proxies.ts';
import { resultsCommand } from './commands/results.ts';
import { runCommand } from './commands/run.ts';
import { runsCommand } from './commands/runs.ts';
import { scheduleCommand } from './commands/schedule.ts';
import { sessionsCommand } from './commands/sessions.ts';
import { statsCommand } from './commands/stats.ts';
import { statusCommand } from './commands/status.ts';
import { submitCommand } from './commands/submit.ts';
import { superviseCommand } from './commands/supervise.ts';
import { topologyCommand } from './commands/topology.ts';
import { upCommand } from './commands/up.ts';
import { watchCommand } from './commands/watch.ts';
import { whyCommand } from './commands/why.ts';

export const commands: readonly Command[] = [
  upCommand,
  downCommand,
  statusCommand,
  submitCommand,
  runCommand,
  watchCommand,
  runsCommand,
  resultsCommand,
  statsCommand,
  whyCommand,
  cancelCommand,
  pauseCommand,
  resumeCommand,
  deadCommand,
  scheduleCommand,
  proxiesCommand,
  hostsCommand,
  sessionsCommand,
  doctorCommand,
  topologyCommand,
  configCommand,
  demoSiteCommand,
  ...actorCommands,
  superviseCommand,
];
