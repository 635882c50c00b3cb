/** A Chromium for the tests of the browser engine, and what it leaves behind. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { createBrowserEngine, type BrowserEngine, type BrowserOptions } from '../../src/browser/engine.ts';
import type { BrowserAnswer, BrowserRequest } from '../../src/browser/request.ts';
import { HttpFailure } from '../../src/http/http-failure.ts';
import { projectRoot } from '../../src/project-root.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { TIMEOUTS } from './http-world.ts';
import { quietLog } from './nats-server.ts';

const NO_WAY = 3;

/**
 * The browser of this machine, or one that is fetched into the cache of the project. Where there is no way to get one the
 * tests are skipped, and say so; on a machine of CI that is a failure.
 */
export function needChromium(t: Pick<Test, 'plan' | 'comment'>): string | undefined {
  const { status, stdout, stderr } = spawnSync('sh', [join(projectRoot, 'test/get-chromium.sh')], {
    encoding: 'utf8',
  });
  if (status === 0) return stdout.trim();
  if (status !== NO_WAY || process.env['CI'] !== undefined) throw new Error(`no Chromium: ${stderr}`);
  t.comment(stderr);
  t.plan(0, `no Chromium to be had: ${stderr.trim()}`);
  return undefined;
}

/** As root there is no sandbox of Chromium. */
export const CAN_SANDBOX = process.getuid?.() !== 0;

export interface BrowserWorld {
  readonly engine: BrowserEngine;
  readonly open: (url: string, change?: Partial<BrowserRequest>) => Promise<BrowserAnswer>;
  readonly failing: (url: string, change?: Partial<BrowserRequest>) => Promise<HttpFailure>;
}

export function startBrowser(
  t: Pick<Test, 'teardown'>,
  path: string,
  change: Partial<BrowserOptions> = {},
): BrowserWorld {
  const engine = createBrowserEngine({
    path,
    pages: 4,
    idleMs: 60_000,
    sandbox: CAN_SANDBOX,
    connectMs: 5_000,
    allowLoopback: [],
    clock: systemClock,
    log: quietLog,
    ...change,
  });
  t.teardown(() => engine.close());
  return { engine, open, failing };

  async function open(url: string, own: Partial<BrowserRequest> = {}): Promise<BrowserAnswer> {
    const { signal } = new AbortController();
    const slot = await engine.reserve(signal);
    try {
      return await slot.send(
        {
          url: new URL(url),
          headers: [],
          egress: { id: 'direct' },
          timeouts: TIMEOUTS,
          maxBytes: 5_000_000,
          userAgent: 'test browser',
          identity: 'somebody',
          cookies: [],
          waitFor: 'load',
          ...own,
        },
        signal,
      );
    } finally {
      slot.release();
    }
  }

  async function failing(url: string, own?: Partial<BrowserRequest>): Promise<HttpFailure> {
    const error: unknown = await open(url, own).then(
      ({ status }) => new Error(`answered with status ${status}`),
      (reason: unknown) => reason,
    );
    if (error instanceof HttpFailure) return error;
    throw error;
  }
}

/** Processes that this one has started and that live: their number, and what they are. */
export function childrenOf(parent: number): { readonly pid: number; readonly command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const [, state = '', ppid = ''] =
          /^\d+ \(.*\) (\S) (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? [];
        if (Number(ppid) !== parent || state === 'Z') return [];
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return { pid: Number(name), command };
      } catch {
        return [];
      }
    });
}

export function browsersHere(): number[] {
  return childrenOf(process.pid)
    .filter(({ command }) => command.includes('--remote-debugging-pipe'))
    .map(({ pid }) => pid);
}
