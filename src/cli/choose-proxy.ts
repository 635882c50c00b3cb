/** Which way `trawl try` goes. Whoever tries a scraper that wants a proxy is not shown to its site without knowing. */
import type { Config } from '../config/fields.ts';
import type { ProxyAddress } from '../domain/egress.ts';
import { Failure } from '../domain/failure.ts';
import { parseProxyAddress } from '../domain/proxy-address.ts';
import type { Scraper } from '../scrapers/scraper.ts';
import { readText, type Arguments } from './arguments.ts';

/** Undefined: from this machine's own address. */
export function chooseProxy(
  scraper: Pick<Scraper, 'name' | 'egress'>,
  { argv, config }: { readonly argv: Arguments; readonly config: Pick<Config, 'egress'> },
): ProxyAddress | undefined {
  const proxy = readText(argv, 'proxy');
  const direct = argv['direct'] === true;
  if (proxy !== undefined && direct) throw new Failure('INVALID', 'either --proxy or --direct, not both');
  if (proxy !== undefined) return parseProxyAddress(proxy);
  const { via = config.egress.via, whenNone = config.egress.whenNone } = scraper.egress ?? {};
  if (via !== 'proxy' || whenNone === 'direct' || direct) return undefined;
  throw new Failure('INVALID', `${scraper.name} goes through a proxy (egress.via), and none is given`, {
    hint: "Give it one: --proxy http://user:password@host:port, or socks5://host:port. With --direct it goes from this machine's own address.",
  });
}
