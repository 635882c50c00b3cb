/** Asks Tor for a new way through its network, so that the next connections leave from another address. */
import { connect, type Socket } from 'node:net';
import { Failure } from '../domain/failure.ts';
import { Secret } from '../domain/secret.ts';
import { describe } from './http-failure.ts';
import { createSocketReader, type SocketReader } from './socket-reader.ts';

export interface TorControl {
  readonly host: string;
  readonly port: number;
  /** Absent where Tor asks for none. */
  readonly password?: Secret | undefined;
}

/** Reads `tcp://:password@127.0.0.1:9051`. Throws `INVALID`, without a word of the text. */
export function parseTorControl(text: string): TorControl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.port === '')
    throw new Failure('INVALID', 'the control address of the proxy must have a host and a port');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const password = decodeURIComponent(url.password);
  return { host, port: Number(url.port), ...(password !== '' && { password: new Secret(password) }) };
}

const LINE_MAX_BYTES = 4096;
const LINES_MAX = 64;
const OK = '250';
const BAD_LOGIN = '515';

/** Resolves when Tor has agreed. It makes a new way at most every ten seconds, and lets later ones wait. */
export async function renewTorCircuit(
  control: TorControl,
  limits: { readonly timeoutMs: number },
): Promise<void> {
  const socket = connect({ host: control.host, port: control.port });
  // There must be a listener at every moment, also between two reads.
  socket.on('error', () => undefined);
  const timer = setTimeout(() => socket.destroy(new Error('no answer in time')), limits.timeoutMs);
  try {
    const reader = createSocketReader(socket);
    await ask(socket, reader, `AUTHENTICATE ${quote(control.password?.reveal() ?? '')}`, 'the password');
    await ask(socket, reader, 'SIGNAL NEWNYM', 'a new circuit');
    socket.end('QUIT\r\n');
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure('PROXY', `the control port of Tor cannot be used: ${describe(error)}`, {
      cause: error,
      hint: 'Set ControlPort in the torrc, and see that this machine may reach it.',
    });
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

async function ask(socket: Socket, reader: SocketReader, command: string, about: string): Promise<void> {
  socket.write(`${command}\r\n`);
  const status = await readStatus(reader);
  if (status === OK) return;
  const hint =
    status === BAD_LOGIN ? 'Give the password whose hash is HashedControlPassword in the torrc.' : undefined;
  throw new Failure('PROXY', `Tor refused ${about} with code ${status}`, { hint });
}

/** An answer may have several lines; the last one has a space behind its code. */
async function readStatus(reader: SocketReader): Promise<string> {
  for (let lines = 0; lines < LINES_MAX; lines += 1) {
    const line = await reader.takeUntil('\r\n', LINE_MAX_BYTES);
    if (line[3] !== '-' && line[3] !== '+') return line.slice(0, 3);
  }
  throw new Error(`an answer of more than ${LINES_MAX} lines`);
}

/** A line break in a password would be a second command. */
function quote(text: string): string {
  if (/[\r\n]/.test(text))
    throw new Failure('INVALID', 'the password of the control port has a line break in it');
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
