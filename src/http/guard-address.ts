/**
 * Which addresses a scraped page must never lead us to: everything that IANA's registries of special-purpose addresses
 * call not globally reachable, and everything outside of what is handed out at all. A page, a redirect or a name server
 * may name such an address to make a worker speak to its own machine, its neighbours or a cloud's metadata service.
 */
import { isIP, isIPv4 } from 'node:net';

/** First address and length of the prefix, in bits. */
const V4_FORBIDDEN: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT; Alibaba's metadata service
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local; the metadata services of the clouds
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays, given up
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and the broadcast address
];

/** Within 2000::/3, outside of which nothing is handed out. */
const V6_FORBIDDEN: readonly (readonly [string, number])[] = [
  ['2001::', 23], // protocol assignments: Teredo, ORCHID, benchmarks
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, given up; holds an IPv4 address that may be private
  ['3fff::', 20], // documentation
];

const V6_GLOBAL = prefix('2000::', 3);
/** These hold an IPv4 address in their last 32 bits, and are as good or bad as that. */
const V6_CARRIERS = [prefix('::ffff:0:0', 96), prefix('64:ff9b::', 96)];

const V4_PREFIXES = V4_FORBIDDEN.map(([first, bits]) => prefix(first, bits));
const V6_PREFIXES = V6_FORBIDDEN.map(([first, bits]) => prefix(first, bits));

/** True as well for text that is no address at all. */
export function isForbidden(address: string): boolean {
  const bytes = addressBytes(address);
  if (!bytes) return true;
  if (bytes.length === 4) return V4_PREFIXES.some((one) => isWithin(bytes, one));
  if (V6_CARRIERS.some((one) => isWithin(bytes, one))) {
    const inner = bytes.slice(12);
    return V4_PREFIXES.some((one) => isWithin(inner, one));
  }
  return !isWithin(bytes, V6_GLOBAL) || V6_PREFIXES.some((one) => isWithin(bytes, one));
}

/** `ip:port` or `[ip]:port` in one spelling; undefined for anything else, such as a name. */
export function endpointKey(address: string, port: number): string | undefined {
  const bytes = addressBytes(address);
  return bytes && `${bytes.join('.')} ${port}`;
}

/** Reads `127.0.0.1:8080` and `[::1]:8080`. */
export function parseEndpoint(text: string): string | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port < 1 || port > 65535) return undefined;
  return endpointKey(match[1] ?? match[2] ?? '', port);
}

interface Prefix {
  readonly bytes: readonly number[];
  readonly bits: number;
}

function prefix(first: string, bits: number): Prefix {
  return { bytes: addressBytes(first) ?? [], bits };
}

function isWithin(bytes: readonly number[], { bytes: first, bits }: Prefix): boolean {
  const whole = bits >> 3;
  for (let i = 0; i < whole; i += 1) if (bytes[i] !== first[i]) return false;
  const rest = 8 - (bits & 7);
  return rest === 8 || (bytes[whole] ?? 0) >> rest === (first[whole] ?? 0) >> rest;
}

/** 4 or 16 bytes; undefined for a name. */
export function addressBytes(address: string): readonly number[] | undefined {
  if (isIPv4(address)) return address.split('.').map(Number);
  // An address with a zone (`fe80::1%eth0`) is one of this machine's own links.
  if (isIP(address) !== 6 || address.includes('%')) return undefined;
  const [head = '', tail] = address.split('::');
  const front = groupBytes(head);
  if (tail === undefined) return front;
  const back = groupBytes(tail);
  return [...front, ...new Array<number>(16 - front.length - back.length).fill(0), ...back];
}

function groupBytes(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
}
