/** Names become addresses here, inside of the connection: what is checked is what is dialled. */
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { endpointKey, isForbidden, parseEndpoint } from './guard-address.ts';
import { Failure } from '../domain/failure.ts';
import { HttpFailure } from './http-failure.ts';

export interface AddressGuard {
  /** Throws if `host` is an address, and a forbidden one. A name passes: `lookup` sees to it. */
  checkLiteral(host: string, port: number): void;
  /** For requests that a proxy resolves: names that mean the proxy's own machine are refused too. */
  checkThroughProxy(host: string, port: number): void;
  lookupFor(port: number): LookupFunction;
}

export type Resolve = (
  name: string,
  options: { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const LOCAL_NAME = /(?:^|\.)localhost\.?$/i;

export function createAddressGuard(
  allowed: readonly string[],
  resolve: Resolve = systemLookup,
  isBad: (address: string) => boolean = isForbidden,
): AddressGuard {
  const exempt = new Set(allowed.map(readAllowed));

  return {
    checkLiteral(host, port) {
      if (isIP(host) !== 0 && isClosed(host, port)) throw refusal(host);
    },
    checkThroughProxy(host, port) {
      if (isIP(host) === 0 ? LOCAL_NAME.test(host) : isClosed(host, port)) throw refusal(host);
    },
    lookupFor: (port) => (name, options, done) => {
      resolve(name, { ...options, all: true }, (error, addresses) => {
        const problem = error ?? problemOf(name, addresses, port);
        const first = problem ? undefined : addresses[0];
        if (problem) done(problem, '');
        else if (options.all) done(null, addresses);
        else done(null, first?.address ?? '', first?.family);
      });
    },
  };

  /** One bad address among good ones is enough: whoever sends such an answer hopes for the bad one. */
  function problemOf(name: string, addresses: readonly LookupAddress[], port: number): Error | undefined {
    const bad = addresses.find(({ address }) => isClosed(address, port));
    if (bad) return refusal(name, bad.address);
    return addresses.length > 0 ? undefined : Object.assign(new Error('no address'), { code: 'ENOTFOUND' });
  }

  function isClosed(address: string, port: number): boolean {
    if (!isBad(address)) return false;
    const key = endpointKey(address, port);
    return key === undefined || !exempt.has(key);
  }
}

function readAllowed(text: string): string {
  const key = parseEndpoint(text);
  if (key !== undefined) return key;
  throw new Failure('INVALID', `${text} is not an address with a port`, {
    hint: 'Write 127.0.0.1:8080 or [::1]:8080; names are not taken.',
  });
}

function refusal(host: string, address?: string): HttpFailure {
  const what = address === undefined ? host : `${host}, which is ${address},`;
  return new HttpFailure('REJECTED', `${what} is not an address of the public internet`, {
    hint: 'Pages must not lead a worker into its own network. For a test, allow the exact ip:port in the configuration.',
    sent: false,
  });
}
