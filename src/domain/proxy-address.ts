/**
 * The address of a proxy, as people and providers write it:
 *
 *   socks5://user:password@host:port   a URL; http, https, socks5 (also as socks5h)
 *   user:password@host:port            http is meant
 *   host:port:user:password            the line of a provider's list; http is meant
 *   host:port                          without credentials
 *
 * No message repeats any part of a text that may hold a password.
 */
import { createHash } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { PROXY_KINDS, type ProxyAddress, type ProxyKind } from './egress.ts';
import { Failure } from './failure.ts';
import { Secret } from './secret.ts';

const HINT = 'Write it as http://user:password@host:port, socks5://host:port, or host:port:user:password.';
const ALIASES: Readonly<Record<string, ProxyKind>> = { socks5h: 'socks5', socks: 'socks5' };
const TEXT_MAX_CHARACTERS = 2_048;
const ID_HOST_MAX_CHARACTERS = 40;
const PLACE = /^(?:\[([^\]]+)\]|([^:/?#[\]@]+)):(\d{1,5})$/;
const LINE = /^(?:\[([^\]]+)\]|([^:/?#[\]@]+)):(\d{1,5}):(.+)$/;

/** Throws `INVALID`. */
export function parseProxyAddress(text: string): ProxyAddress {
  const trimmed = text.trim();
  if (trimmed === '') throw wrong('there is no address');
  if (trimmed.length > TEXT_MAX_CHARACTERS)
    throw wrong(`it is longer than ${TEXT_MAX_CHARACTERS} characters`);
  if (/[\s\p{Cc}]/u.test(trimmed)) throw wrong('it has spaces or control characters in it');
  const [, scheme, rest = ''] = /^(?:([A-Za-z][A-Za-z0-9+.-]*):\/\/)?(.*)$/.exec(trimmed) ?? [];
  const kind = kindOf(scheme);
  const at = rest.lastIndexOf('@');
  const place = PLACE.exec(rest.slice(at + 1).replace(/\/$/, ''));
  // A password may hold an @ of its own.
  const line = place ? undefined : LINE.exec(rest);
  const credentials = line
    ? splitCredentials(line[4])
    : splitCredentials(rest.slice(0, Math.max(0, at)), decode);
  return { kind, ...readPlace(place ?? line), ...credentials };
}

function kindOf(scheme: string | undefined): ProxyKind {
  if (scheme === undefined) return 'http';
  const word = scheme.toLowerCase();
  const kind = PROXY_KINDS.find((each) => each === word) ?? ALIASES[word];
  if (!kind) throw wrong(`it must start with ${PROXY_KINDS.map((each) => `${each}://`).join(', ')}`);
  return kind;
}

function readPlace(found: RegExpExecArray | null | undefined): { host: string; port: number } {
  const [, bracketed, plain, portText] = found ?? [];
  const host = (bracketed ?? plain)?.toLowerCase();
  if (host === undefined || portText === undefined) throw wrong('it has no host and port');
  const port = Number(portText);
  if (port < 1 || port > 65_535) throw wrong('its port is not one from 1 to 65535');
  if (bracketed === undefined ? !isHostName(host) : !isIPv6(host)) throw wrong('its host is none');
  return { host, port };
}

function isHostName(host: string): boolean {
  if (/^[\d.]+$/.test(host)) return isIPv4(host);
  return host.length <= 253 && host.split('.').every((label) => /^[a-z0-9_]([a-z0-9_-]{0,62})$/.test(label));
}

function splitCredentials(
  text: string | undefined,
  read: (part: string) => string = (part) => part,
): Pick<ProxyAddress, 'username' | 'password'> {
  if (text === undefined || text === '') return {};
  const colon = text.indexOf(':');
  const username = read(colon < 0 ? text : text.slice(0, colon));
  if (username === '') throw wrong('it has a password and no user');
  return colon < 0 ? { username } : { username, password: new Secret(read(text.slice(colon + 1))) };
}

/** Providers' lists hold passwords with a bare `%` in them: then nothing was encoded. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The same as a URL, password and all. */
export function formatProxyAddress({ kind, host, port, username, password }: ProxyAddress): Secret {
  const user = username === undefined ? '' : encodeURIComponent(username);
  const secret = password === undefined ? '' : `:${encodeURIComponent(password.reveal())}`;
  return new Secret(
    `${kind}://${username === undefined ? '' : `${user}${secret}@`}${placeOf({ host, port })}`,
  );
}

/** Where it is, and nothing about who we are there. */
export function describeProxyAddress({ kind, host, port }: ProxyAddress): string {
  return `${kind}://${placeOf({ host, port })}`;
}

/**
 * The same address has the same id, also with a new password; two users of one gateway are two proxies. The user is in
 * it as a digest only: providers put session keys and customer numbers into user names.
 */
export function proxyIdOf({ kind, host, port, username }: ProxyAddress): string {
  const digest = createHash('sha256').update(JSON.stringify([kind, host, port, username ?? '']));
  const name = host
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, ID_HOST_MAX_CHARACTERS);
  return `${name}-${port}-${digest.digest('hex').slice(0, 12)}`;
}

function placeOf({ host, port }: { host: string; port: number }): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

function wrong(why: string): Failure {
  return new Failure('INVALID', `that is not the address of a proxy: ${why}`, { hint: HINT });
}
