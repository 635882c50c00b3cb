/** Puts the address of its proxy into every lease. Sealing costs, so it is done once for each record of a proxy. */
import type { EgressBook } from '../../policy/egress/book.ts';
import type { ProxyRecord } from '../../policy/egress/records.ts';
import type { AcquireReply, LeaseGrant, WantAnswer } from '../../wire/egress.ts';
import type { ProxyManagerPorts } from './ports.ts';

type Address = ReturnType<ProxyManagerPorts['sealAddress']>;

export function createAddressing(
  book: Pick<EgressBook, 'proxyRecord'>,
  sealAddress: ProxyManagerPorts['sealAddress'],
): (reply: AcquireReply) => AcquireReply {
  /** By the address itself: a record is made anew whenever the proxy's state changes. */
  const sealed = new WeakMap<ProxyRecord['address'], { control: ProxyRecord['control']; address: Address }>();

  return ({ answers }) => ({ answers: answers.map(withAddresses) });

  function withAddresses(answer: WantAnswer): WantAnswer {
    return answer.kind === 'granted' ? { ...answer, leases: answer.leases.map(withAddress) } : answer;
  }

  function withAddress(lease: LeaseGrant): LeaseGrant {
    const proxy = book.proxyRecord(lease.egress);
    return proxy ? { ...lease, ...addressOf(proxy) } : lease;
  }

  function addressOf(proxy: ProxyRecord): Address {
    const known = sealed.get(proxy.address);
    if (known && known.control === proxy.control) return known.address;
    const address = sealAddress(proxy);
    sealed.set(proxy.address, { control: proxy.control, address });
    return address;
  }
}
