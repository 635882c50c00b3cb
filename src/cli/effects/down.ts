/** `trawl down`: drain and stop the local cluster; `--clean` removes its data as well. */
import { cleanHome } from '../../local/clean.ts';
import { bringDown } from '../../local/down.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { configHome } from '../local-cluster.ts';

export async function run({ config, output, argv }: CommandContext): Promise<ExitCode> {
  const { home } = config;
  const { outcome } = await bringDown({ home }, ({ text }) => output.progress(`… ${text}`));
  const said = outcome === 'stopped' ? 'The cluster has stopped.' : `No cluster runs in ${home}.`;
  if (argv['clean'] !== true) {
    output.result({ outcome }, outcome === 'stopped' ? `${said} Its data stays in ${home}.` : said);
    return EXIT.ok;
  }
  const cleaned = cleanHome({ home, configHome: configHome() });
  const kept = cleaned.kept.length > 0 ? ` Left alone, because not ours: ${cleaned.kept.join(', ')}.` : '';
  const removed = cleaned.removed.length > 0 ? ` ${home} is removed.` : ' There was nothing to remove.';
  output.result({ outcome, ...cleaned }, `${said}${removed}${kept}`);
  return EXIT.ok;
}
