/** `trawl supervise`: the background process of a local cluster. `trawl up` starts it; people have no use for it. */
import { runSupervisor } from '../../local/supervise.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { forgetForeignConnection } from '../local-cluster.ts';
import { prepareServer } from '../prepare-server.ts';

export async function run(context: CommandContext): Promise<ExitCode> {
  forgetForeignConnection(process.env);
  const prepare: Parameters<typeof runSupervisor>[0]['prepare'] = (access) => prepareServer(context, access);
  const code = await runSupervisor({ log: context.log, prepare });
  return code === 0 ? EXIT.ok : EXIT.failure;
}
