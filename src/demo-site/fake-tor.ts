/** A local stand-in for Tor: a SOCKS5 port, and a control port on which NEWNYM changes the address it goes out from. */
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { runProxy } from './fake-proxy.ts';
import { listen } from './listener.ts';
import { createProxyDesk, type Address, type ProxyUse } from './proxy-desk.ts';

export interface FakeTorOptions {
  /** Taken in turn, one per NEWNYM; such as 127.0.0.2, 127.0.0.3. */
  readonly addresses: readonly [string, ...string[]];
  /** Of the control port; none = anybody may. */
  readonly password?: string;
  readonly elsewhere?: Address;
}

export interface FakeTor {
  readonly socksUrl: string;
  readonly socksPort: number;
  readonly controlPort: number;
  readonly log: readonly ProxyUse[];
  /** How often NEWNYM was asked for. */
  rotations(): number;
  outAddress(): string;
  sockets(): number;
  close(): Promise<void>;
}

export async function startFakeTor({ addresses, password, elsewhere }: FakeTorOptions): Promise<FakeTor> {
  let rotations = 0;
  const outAddress = (): string => addresses[rotations % addresses.length] ?? addresses[0];
  const desk = createProxyDesk({ behaviour: 'ok', credentials: undefined, elsewhere, outAddress });
  const socks = await runProxy({ kind: 'socks5', desk, port: 0 });
  const server = createServer((client) => control(client, { password, newnym: () => void (rotations += 1) }));
  const listener = await listen(server, { host: '127.0.0.1', port: 0, socketsMax: 64 });
  return {
    socksUrl: `socks5://127.0.0.1:${socks.port}`,
    socksPort: socks.port,
    controlPort: listener.port,
    get log() {
      return desk.uses();
    },
    rotations: () => rotations,
    outAddress,
    sockets: () => socks.sockets() + listener.sockets(),
    async close() {
      await Promise.all([socks.close(), listener.stop()]);
    },
  };
}

/** The few words of the control protocol that a scraper needs. */
function control(client: Socket, about: { password: string | undefined; newnym: () => void }): void {
  let known = false;

  function answer(word: string, argument: string): string {
    if (word === 'PROTOCOLINFO')
      return '250-PROTOCOLINFO 1\r\n250-AUTH METHODS=HASHEDPASSWORD,NULL\r\n250 OK';
    if (word === 'QUIT') return '250 closing connection';
    if (word === 'AUTHENTICATE') {
      known = about.password === undefined || unquote(argument) === about.password;
      return known ? '250 OK' : '515 Authentication failed';
    }
    if (!known) return '514 Authentication required.';
    if (word !== 'SIGNAL') return `510 Unrecognized command "${word}"`;
    if (argument.toUpperCase() !== 'NEWNYM') return `552 Unrecognized signal code "${argument}"`;
    about.newnym();
    return '250 OK';
  }

  createInterface({ input: client }).on('line', (line) => {
    const [word = '', ...rest] = line.trim().split(' ');
    const words = answer(word.toUpperCase(), rest.join(' '));
    client.write(`${words}\r\n`);
    // Tor ends the connection of whoever says goodbye, and of whoever may not speak.
    if (/^(250 closing|51[45])/.test(words)) client.end();
  });
}

/** `"a\"b"` → `a"b`. */
function unquote(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1).replace(/\\(.)/g, '$1') : text;
}
