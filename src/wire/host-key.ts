/**
 * The name of a host in keys and messages: the host name in lower case, with `=port` behind it where the port is not the
 * scheme's own. An IPv6 address has `-` for its colons, because a key of a bucket may not hold them.
 */
import { isIPv6 } from 'node:net';
import { Failure } from '../domain/failure.ts';

const KEY = /^[-_a-z0-9]+(\.[-_a-z0-9]+)*(=\d{1,5})?$/;
/** A name of the internet has 253 characters at most, and the port six more. */
const KEY_MAX_CHARACTERS = 260;

/** A worker asks for the same few hosts again and again, several times for each page. */
const known = new Map<string, string>();
const KNOWN_MAX = 5_000;

/** Throws `INVALID` for a host that no server of the internet can have. */
export function hostKey(url: URL): string {
  const { host } = url;
  let key = known.get(host);
  if (key === undefined) {
    key = makeKey(url);
    if (known.size >= KNOWN_MAX) known.clear();
    known.set(host, key);
  }
  return key;
}

function makeKey(url: URL): string {
  const name = url.hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replaceAll(':', '-')
    .replace(/\.$/, '');
  const key = url.port === '' ? name : `${name}=${url.port}`;
  if (!isHostKey(key)) throw new Failure('INVALID', `${JSON.stringify(url.hostname)} is not a host name`);
  return key;
}

export function isHostKey(text: string): boolean {
  return text.length <= KEY_MAX_CHARACTERS && KEY.test(text);
}

/** As people and URLs write it: `example.com`, `example.com:8080`, `[::1]:8080`. */
export function hostOfKey(key: string): string {
  const { name, port } = splitHostKey(key);
  const host = isIPv6(name) ? `[${name}]` : name;
  return port === undefined ? host : `${host}:${port}`;
}

/** The host name, or the address without brackets, and the port where the key has one. */
export function splitHostKey(key: string): { readonly name: string; readonly port: number | undefined } {
  const [host = '', port] = key.split('=');
  const address = host.replaceAll('-', ':');
  return { name: isIPv6(address) ? address : host, port: port === undefined ? undefined : Number(port) };
}

/** What a person gives as a host: a key, `host`, `host:port`, or a whole URL. */
export function parseHost(text: string): string {
  if (isHostKey(text)) return text;
  const url = text.includes('://') ? text : `http://${text}`;
  if (!URL.canParse(url))
    throw new Failure('INVALID', 'that is not a host', {
      hint: 'Give a host as example.com or example.com:8080.',
    });
  return hostKey(new URL(url));
}
