/** Starts Chromium by playwright-core, which users install beside us if they want a browser. */
import { homedir, tmpdir } from 'node:os';
import type { Browser } from 'playwright-core';
import { Failure, messageOf } from '../domain/failure.ts';

export interface LaunchOptions {
  readonly path: string;
  readonly sandbox: boolean;
  /** A proxy that refuses everything: for what the browser would send on its own account. */
  readonly refusingPort: number;
}

type Playwright = Pick<typeof import('playwright-core'), 'chromium'>;
export type LoadPlaywright = () => Promise<Playwright>;

const LAUNCH_MAX_MS = 30_000;
const ARGUMENTS: readonly string[] = [
  // Video calls speak UDP past every proxy; so would QUIC.
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
  // Names are looked up where the request goes out, by whoever is asked there.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--disable-background-networking',
];

const SANDBOX_HINT =
  'Chromium needs an ordinary user and user namespaces for its sandbox. Where a container is the sandbox, set browser.sandbox to false.';

export const loadPlaywright: LoadPlaywright = () => import('playwright-core');

export async function launchChromium(
  { path, sandbox, refusingPort }: LaunchOptions,
  load: LoadPlaywright,
): Promise<Browser> {
  const { chromium } = await load().catch((cause: unknown) => {
    throw new Failure('INTERNAL', 'the browser engine needs the package playwright-core', {
      cause,
      hint: 'npm install playwright-core',
    });
  });
  try {
    return await chromium.launch({
      executablePath: path,
      headless: true,
      chromiumSandbox: sandbox,
      proxy: { server: `socks5://127.0.0.1:${refusingPort}`, bypass: '<-loopback>' },
      args: [...ARGUMENTS],
      // Nothing of ours: a page that breaks out of the browser would find our passwords there.
      env: { HOME: homedir(), TMPDIR: tmpdir() },
      // The worker says when it ends.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      timeout: LAUNCH_MAX_MS,
    });
  } catch (cause) {
    const [first = ''] = messageOf(cause).split('\n');
    const hint = sandbox
      ? SANDBOX_HINT
      : `Try it by hand: ${path} --headless --no-sandbox --dump-dom about:blank`;
    throw new Failure('INTERNAL', `Chromium does not start: ${first}`, { cause, hint });
  }
}
