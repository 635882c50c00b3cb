/**
 * Who is to blame when a proxy says that it cannot do its work. A proxy that does not reach a dead target tells it in the
 * same words (a 502 to CONNECT) as one that is broken itself. So one that says it, and whose failures in a row are all
 * at one host, *accuses* that host; accused by several, and with no answer to anybody in between, the host is at fault,
 * not the proxies. A proxy that cannot be reached, or refuses us, accuses nobody. Nor is trouble on the way to a host
 * that is silent to everybody the trouble of a proxy.
 */
import { closeUnreachable } from './closures.ts';
import { changeStanding } from './pool.ts';
import { calm, disableProxy } from './proxies.ts';
import type { Egress, Host } from './entities.ts';
import type { State } from './state.ts';

export interface Fault {
  /** Proxies that accuse the host. */
  readonly accusers: number;
  /** Of this proxy, in a row. */
  readonly failures: number;
}

const ACCUSERS = 3;
const SILENCES = 3;

/** Nobody gets an answer of it, whichever way he goes. */
export function isSilent({ silentOn }: Host): boolean {
  return silentOn.size >= SILENCES;
}

export function noteSilence(host: Host, { id }: Egress): void {
  if (!isSilent(host)) host.silentOn.add(id);
}

export function noteAnswer(host: Host): void {
  host.accusers.clear();
  host.silentOn.clear();
}

export function decideBlame({ accusers, failures }: Fault, failuresMax: number): 'host' | 'proxy' | 'nobody' {
  if (accusers >= ACCUSERS) return 'host';
  return failures >= failuresMax ? 'proxy' : 'nobody';
}

export function noteFault(
  state: State,
  host: Host,
  egress: Egress,
  { startedAt, blamesTarget }: { readonly startedAt: number; readonly blamesTarget: boolean },
  now: number,
): void {
  if (blamesTarget) accuse(state, host, egress);
  else withdraw(state, egress);
  egress.failures += 1;
  egress.goods = 0;
  const facts = { accusers: host.accusers.size, failures: egress.failures };
  switch (decideBlame(facts, state.limits.failuresMax)) {
    case 'host':
      for (const id of host.accusers) clear(state, host, state.egresses.get(id), now);
      closeUnreachable(state, host, startedAt, now);
      // One more is enough as long as nobody gets through; so none but the latest need be known.
      for (const id of host.accusers) if (host.accusers.size > ACCUSERS) host.accusers.delete(id);
      return;
    case 'proxy':
      if (egress.standing.state !== 'disabled' && egress.standing.state !== 'frozen')
        disableProxy(state, egress, `failed ${egress.failures} times in a row`, now);
      return;
    case 'nobody':
  }
}

/** Who fails at a second host as well accuses none. */
function accuse(state: State, host: Host, egress: Egress): void {
  const { failures, failedAt, id } = egress;
  if (failures > 0 && failedAt !== host.name) {
    withdraw(state, egress);
    return;
  }
  egress.failedAt = host.name;
  host.accusers.delete(id);
  host.accusers.add(id);
}

function withdraw(state: State, egress: Egress): void {
  if (egress.failedAt !== undefined) state.hosts.get(egress.failedAt)?.accusers.delete(egress.id);
  egress.failedAt = undefined;
}

/** What it failed at this host does not count against it, also if it was disabled for that. */
function clear(state: State, host: Host, egress: Egress | undefined, now: number): void {
  if (!egress?.record || egress.failures === 0 || egress.failedAt !== host.name) return;
  egress.failures = 0;
  const { state: standing, times } = egress.standing;
  if (standing !== 'disabled') return;
  const reason = `${host.name} was at fault`;
  changeStanding(
    state,
    egress,
    { ...calm(egress), state: 'available', reason, since: now, times: Math.max(0, times - 1) },
    now,
  );
}
