/** The records of the book as values of the bucket, and back. */
import { Failure, messageOf } from '../domain/failure.ts';
import type { EgressRecord, EgressWrite } from '../policy/egress/records.ts';
import type { Log } from '../telemetry/log.ts';
import { encodeJson } from '../wire/codec.ts';
import { decodeHost, decodeRobots } from '../wire/host-record.ts';
import { decodeLease, decodeOpen } from '../wire/lease-record.ts';
import { decodeProxy, encodeProxy } from '../wire/proxy-record.ts';
import type { Seal } from '../wire/sealed.ts';
import { decodeSession, encodeSession } from '../wire/session-record.ts';
import { decodePair, decodeSpent } from '../wire/spent-record.ts';
import type { StoreWrite } from './egress-store.ts';

export function encodeWrite(write: EgressWrite, seal: Seal): StoreWrite {
  if (write.kind === 'remove') return write;
  const { kind, key, record, ttlMs } = write;
  return { kind, key, value: encodeRecord(record, seal), ttlMs };
}

function encodeRecord(record: EgressRecord, seal: Seal): Uint8Array {
  if (record.type === 'proxy') return encodeProxy(record, seal);
  return record.type === 'session' ? encodeSession(record, seal) : encodeJson(record);
}

/** What cannot be read is told and left out: one broken record must not keep everybody from going out. */
export function decodeRecords(
  entries: Iterable<readonly [key: string, value: Uint8Array]>,
  { seal, log }: { seal: Seal; log: Log },
): EgressRecord[] {
  const records: EgressRecord[] = [];
  for (const [key, value] of entries) {
    try {
      records.push(decodeRecord(key, value, seal));
    } catch (error) {
      log.error('egress.record-unreadable', { key, reason: messageOf(error) });
    }
  }
  return records;
}

function decodeRecord(key: string, value: Uint8Array, seal: Seal): EgressRecord {
  const kind = key.slice(0, key.indexOf('.'));
  switch (kind) {
    case 'proxy':
      return decodeProxy(value, seal);
    case 'session':
      return decodeSession(value, seal);
    case 'host':
      return decodeHost(value);
    case 'robots':
      return decodeRobots(value);
    case 'spent':
      return decodeSpent(value);
    case 'pair':
      return decodePair(value);
    case 'lease':
      return decodeLease(value);
    case 'open':
      return decodeOpen(value);
    default:
      throw new Failure('INVALID', 'not a key of the egress');
  }
}
