/** A proxy in the `egress` bucket: JSON for people, with its address sealed. */
import * as v from 'valibot';
import type { ProxyAddress } from '../domain/egress.ts';
import { describeProxyAddress, formatProxyAddress, parseProxyAddress } from '../domain/proxy-address.ts';
import { Secret } from '../domain/secret.ts';
import { encodeJson } from './codec.ts';
import { keys } from './names.ts';
import { amount, caps, name, readRecord, time } from './record-fields.ts';
import type { Seal } from './sealed.ts';

const health = v.object({
  lastCheck: time,
  isHealthy: v.boolean(),
  responseMs: v.optional(time),
  statusCode: v.optional(amount),
  error: v.optional(v.string()),
});

const stored = v.object({
  type: v.literal('proxy'),
  id: name,
  url: v.string(),
  control: v.optional(v.string()),
  caps: v.optional(caps),
  weight: v.pipe(v.number(), v.finite()),
  machine: v.optional(v.string()),
  exclusive: v.optional(v.boolean()),
  tags: v.optional(v.array(v.string())),
  standing: v.optional(
    v.object({
      state: v.picklist(['available', 'cooling', 'disabled', 'frozen']),
      reason: v.string(),
      since: time,
      until: v.optional(time),
      times: amount,
      health: v.optional(health),
    }),
  ),
});

interface Addressed {
  readonly id: string;
  readonly address: ProxyAddress;
  readonly control?: Secret | undefined;
}

export type ProxyFields = Omit<v.InferOutput<typeof stored>, 'url' | 'control'> & Addressed;

/** The address, and where Tor takes its commands, as they travel in leases too. */
export function sealAddress(
  { id, address, control }: Addressed,
  seal: Seal,
): { readonly url: string; readonly control?: string } {
  const url = seal.seal(formatProxyAddress(address).reveal(), keys.proxy(id));
  return { url, ...(control && { control: seal.seal(control.reveal(), keys.proxy(id)) }) };
}

/** `endpoint` is for people: where it is, without who we are there. */
export function encodeProxy(record: Addressed, seal: Seal): Uint8Array {
  const hidden = { address: undefined, control: undefined };
  const endpoint = describeProxyAddress(record.address);
  return encodeJson({ ...record, ...hidden, endpoint, ...sealAddress(record, seal) });
}

export function decodeProxy(bytes: Uint8Array, seal: Seal): ProxyFields {
  const { url, control, ...rest } = readRecord(stored, bytes);
  const about = keys.proxy(rest.id);
  return {
    ...rest,
    address: parseProxyAddress(seal.open(url, about)),
    ...(control !== undefined && { control: new Secret(seal.open(control, about)) }),
  };
}
