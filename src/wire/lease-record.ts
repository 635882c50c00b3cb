/** What workers hold: JSON. */
import * as v from 'valibot';
import { amount, name, readRecord, time } from './record-fields.ts';

const lease = v.object({
  type: v.literal('lease'),
  id: name,
  worker: name,
  host: name,
  scraper: v.string(),
  egress: name,
  permits: v.nullable(amount),
  slots: v.nullable(amount),
  spacingMs: time,
  exclusive: v.boolean(),
  session: v.optional(v.string()),
  validMs: time,
  grantedAt: time,
  startAt: time,
  startsUntil: time,
  expiresAt: time,
  low: amount,
  above: v.array(amount),
  unsent: amount,
  started: amount,
  lastStartAt: time,
  ended: v.boolean(),
});

export const decodeLease = (bytes: Uint8Array): v.InferOutput<typeof lease> => readRecord(lease, bytes);

/** Until when leases may be used that are not on record. */
const open = v.object({ type: v.literal('open'), until: time });

export const decodeOpen = (bytes: Uint8Array): v.InferOutput<typeof open> => readRecord(open, bytes);
