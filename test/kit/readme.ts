/** The commands of the README, or of another page, and a shell to run them as they stand there. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { projectRoot } from '../../src/project-root.ts';
import type { Test } from 'tap';
import { installTrawl, type Program } from './trawl.ts';

const README = 'README.md';
/** Has an `npx` that takes no time to start. */
const QUICK = join(projectRoot, 'test/kit/quick');

export function titlesOf(page: string): string[] {
  return [...readPage(page).matchAll(/^## (.*)$/gm)].map(([, title = '']) => title);
}

export function sectionOf(title: string, page = README): string {
  return readPage(page).split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
}

export function commandsOf(section: string, page = README): string[] {
  return [...sectionOf(section, page).matchAll(/```sh\n([\s\S]*?)```/g)]
    .flatMap((match) => (match[1] ?? '').split('\n'))
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '');
}

function readPage(page: string): string {
  return readFileSync(join(projectRoot, page), 'utf8');
}

export type Shell = (
  line: string,
  settings?: Readonly<Record<string, string>>,
) => Promise<{ code: number | null; said: string }>;

/** In the project folder, with the home and the ports of a test. */
export function createShell(
  { env, portBase }: Program,
  { npx = 'quick' }: { readonly npx?: 'quick' | 'real' } = {},
): Shell {
  const PATH = npx === 'real' ? env['PATH'] : `${QUICK}:${env['PATH'] ?? ''}`;
  return async (line, settings = {}) => {
    const child = spawn('/bin/sh', ['-c', `${line} 2>&1`], {
      cwd: projectRoot,
      env: { ...env, PATH, PORT_BASE: String(portBase), ...settings },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [[code], said] = await Promise.all([
      once(child, 'close') as Promise<[number | null]>,
      text(child.stdout),
    ]);
    return { code, said };
  };
}

/** Runs all commands of these sections, one after the other, on a cluster of their own. */
export async function runSections(t: Test, ...sections: string[]): Promise<void> {
  // An open run ends soon here, so that `watch` and `--follow` do.
  const up = await installTrawl(t, {
    TRAWL_RUNS_IDLE_END: '8s',
    TRAWL_WORKER_SCRAPERS: join(projectRoot, 'config/scrapers'),
    WORKERS: '1',
  });
  await up.json('up');
  const file = join(up.home, '../urls.txt');
  writeFileSync(file, '# a list\nhttps://shop.example/1\nhttps://shop.example/2\n');
  const shell = createShell(up);
  // Into a run of its own: `friday` may end as soon as nothing comes for it.
  const { tasks } = await up.json<{ tasks: { id: string }[] }>(
    ...['submit', 'echo', 'https://shop.example/1', '--run', 'thursday'],
  );
  const words = (command: string): string =>
    command
      .replaceAll('urls.txt', file)
      .replaceAll('3kf0…', tasks[0]?.id ?? '')
      .replace('--state active', '');
  for (const command of sections.flatMap((section) => commandsOf(section))) {
    const { code, said } = await shell(words(command));
    // What has ended cannot be cancelled, and what is not dead has no dead letter: both say so.
    const may = /cancel|dead show/.test(command) ? [0, 1, 2] : [0];
    t.ok(may.includes(code ?? -1), `${command}: ${code ?? 'signal'} ${said}`);
    t.notMatch(said, /\n\s+at .*\(/, 'no stack trace');
  }
}
