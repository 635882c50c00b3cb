/**
 * Many ports of one machine, written as one: `socks5://127.0.0.1:9050-9059`, as Tor has them when it offers a port to each
 * worker. Each becomes a proxy that one at a time may use, so that nobody shares a way without meaning to.
 */
import { Failure } from './failure.ts';

export interface Ranged {
  readonly url: string;
  readonly id?: string | undefined;
  readonly exclusive?: boolean | undefined;
  /** One for all, or as many as there are ports. */
  readonly control?: string | undefined;
}

const RANGE = /^([a-z][a-z0-9+.-]*:\/\/(?:.*@)?(?:\[[^\]]+\]|[^:/@[\]]+):)(\d{1,5})-(\d{1,5})\/?$/i;
const PORTS_MAX = 1_000;

/** The thing itself where there is no range. Throws `INVALID`. */
export function spreadPorts<T extends Ranged>(wanted: T): readonly T[] {
  const ports = portsOf(wanted.url);
  if (!ports) return [wanted];
  const { id, control, exclusive = true } = wanted;
  const controls = control === undefined ? undefined : portsOf(withScheme(control));
  if (controls && controls.length !== ports.length)
    throw new Failure('INVALID', `there are ${ports.length} ports, but ${controls.length} to control them`, {
      hint: 'Give one control port for all, or as many as there are ports.',
    });
  return ports.map(({ url, port }, index) => ({
    ...wanted,
    url,
    exclusive,
    ...(id !== undefined && { id: `${id}-${port}` }),
    ...(controls && { control: controls[index]?.url }),
  }));
}

function withScheme(control: string): string {
  return control.includes('://') ? control : `tcp://${control}`;
}

function portsOf(text: string): { readonly url: string; readonly port: number }[] | undefined {
  const [, start = '', first, last] = RANGE.exec(text.trim()) ?? [];
  if (first === undefined || last === undefined) return undefined;
  const [from, to] = [Number(first), Number(last)];
  if (from < 1 || to > 65_535 || from > to || to - from >= PORTS_MAX)
    throw new Failure('INVALID', `a range of ports goes up, from 1 to 65535, and holds ${PORTS_MAX} at most`);
  return Array.from({ length: to - from + 1 }, (_, index) => ({
    url: `${start}${from + index}`,
    port: from + index,
  }));
}
