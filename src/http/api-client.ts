/** Small JSON requests to an API that the configuration names, over the network or a socket on this machine. */
import { Client } from 'undici';
import { Failure, messageOf } from '../domain/failure.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH';
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiAnswer {
  readonly status: number;
  /** Undefined where there was none, or none that is JSON. */
  readonly body: unknown;
}

export interface ApiClient {
  send(request: ApiRequest): Promise<ApiAnswer>;
  close(): Promise<void>;
}

export interface ApiOptions {
  /** `http://`, `https://`, or `unix://` with the path of a socket. */
  readonly url: string;
  /** Who may have signed the certificate, in PEM. */
  readonly ca?: string | undefined;
  /** Asked before each request: tokens change. */
  readonly token?: (() => string) | undefined;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
const BODY_MAX_BYTES = 4_000_000;

export function createApiClient({ url, ca, token, timeoutMs = TIMEOUT_MS }: ApiOptions): ApiClient {
  const socketPath = /^unix:\/\/(\/.*)$/.exec(url)?.[1];
  const { origin, pathname } = new URL(socketPath === undefined ? url : 'http://localhost');
  const prefix = pathname.replace(/\/$/, '');
  const client = new Client(origin, {
    connect: {
      timeout: timeoutMs,
      ...(socketPath !== undefined && { socketPath }),
      ...(ca !== undefined && { ca }),
    },
    maxResponseSize: BODY_MAX_BYTES,
  });
  return { send, close: () => client.close() };

  async function send({ method, path, body, headers = {} }: ApiRequest): Promise<ApiAnswer> {
    try {
      const answer = await client.request({
        method,
        path: prefix + path,
        headers: {
          accept: 'application/json',
          ...(token && { authorization: `Bearer ${token()}` }),
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body ? JSON.stringify(body) : null,
        signal: AbortSignal.timeout(timeoutMs),
      });
      return { status: answer.statusCode, body: parse(await answer.body.text()) };
    } catch (error) {
      if (error instanceof Failure) throw error;
      throw new Failure('NETWORK', `${url} does not answer: ${messageOf(error)}`, { cause: error });
    }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
