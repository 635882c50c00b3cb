/** Every command, in the order in which `trawl --help` lists them. */
import type { Command } from './command.ts';
import { actorCommands } from './commands/actor.ts';
import { adviseCommand, autoscaleCommand, drainCommand, scaleCommand } from './commands/autoscale.ts';
import { callCommand } from './commands/call.ts';
import { cancelCommand } from './commands/cancel.ts';
import { aggregateCommand } from './commands/aggregate.ts';
import { configCommand } from './commands/config.ts';
import { deadCommand } from './commands/dead.ts';
import { demoCommand } from './commands/demo.ts';
import { demoSiteCommand } from './commands/demo-site.ts';
import { devCommand } from './commands/dev.ts';
import { doctorCommand } from './commands/doctor.ts';
import { downCommand } from './commands/down.ts';
import { pauseCommand, resumeCommand } from './commands/pause.ts';
import { hostsCommand } from './commands/hosts.ts';
import { newCommand } from './commands/new.ts';
import { observeCommand } from './commands/observe.ts';
import { proxiesCommand } from './commands/proxies.ts';
import { resultsCommand } from './commands/results.ts';
import { runCommand } from './commands/run.ts';
import { runsCommand } from './commands/runs.ts';
import { scheduleCommand } from './commands/schedule.ts';
import { sessionsCommand } from './commands/sessions.ts';
import { sinkCommand, sinksCommand } from './commands/sink.ts';
import { splitCommand } from './commands/split.ts';
import { statsCommand } from './commands/stats.ts';
import { statusCommand } from './commands/status.ts';
import { submitCommand } from './commands/submit.ts';
import { superviseCommand } from './commands/supervise.ts';
import { topologyCommand } from './commands/topology.ts';
import { tryCommand } from './commands/try.ts';
import { upCommand } from './commands/up.ts';
import { watchCommand } from './commands/watch.ts';
import { whyCommand } from './commands/why.ts';

export const commands: readonly Command[] = [
  upCommand,
  downCommand,
  statusCommand,
  scaleCommand,
  drainCommand,
  autoscaleCommand,
  adviseCommand,
  submitCommand,
  runCommand,
  splitCommand,
  callCommand,
  watchCommand,
  runsCommand,
  resultsCommand,
  aggregateCommand,
  statsCommand,
  whyCommand,
  cancelCommand,
  pauseCommand,
  resumeCommand,
  deadCommand,
  scheduleCommand,
  sinksCommand,
  proxiesCommand,
  hostsCommand,
  sessionsCommand,
  observeCommand,
  doctorCommand,
  topologyCommand,
  configCommand,
  newCommand,
  tryCommand,
  devCommand,
  demoCommand,
  demoSiteCommand,
  ...actorCommands,
  sinkCommand,
  superviseCommand,
];
