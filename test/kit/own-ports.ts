/** The ports of 127.0.0.1 on which this process listens. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const LISTENING = '0A';

export function listOwnPorts(): number[] {
  const own = new Set(
    readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1] ?? [];
      } catch {
        return [];
      }
    }),
  );
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === LISTENING && own.has(fields[9] ?? ''))
    .map((fields) => Number.parseInt(fields[1]?.split(':')[1] ?? '', 16));
}
