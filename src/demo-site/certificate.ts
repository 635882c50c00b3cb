/**
 * A certificate that nobody vouches for, made when it is needed: no key lies in a file. It is an X.509 v3 certificate
 * in DER, signed by its own key (RFC 5280).
 */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** What is wrong with a certificate, besides that it signed itself. */
export const CERTIFICATE_FAULTS = ['self-signed', 'expired', 'wrong-host'] as const;
export type CertificateFault = (typeof CERTIFICATE_FAULTS)[number];

export interface KeyAndCertificate {
  readonly key: string; // PEM
  readonly cert: string; // PEM
}

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = '06082a8648ce3d040302';
const COMMON_NAME = '0603550403';
const SUBJECT_ALT_NAME = '0603551d11';

export function makeCertificate(fault: CertificateFault, nowMs: number): KeyAndCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const host = fault === 'wrong-host' ? 'elsewhere.example' : 'localhost';
  const algorithm = sequence(Buffer.from(ECDSA_WITH_SHA256, 'hex'));
  const name = sequence(node(0x31, sequence(Buffer.from(COMMON_NAME, 'hex'), node(0x0c, Buffer.from(host)))));
  const endMs = nowMs + (fault === 'expired' ? -DAY_MS : 365 * DAY_MS);
  const names = [node(0x82, Buffer.from(host))];
  if (fault !== 'wrong-host') names.push(node(0x87, Buffer.from([127, 0, 0, 1])));
  const body = sequence(
    node(0xa0, node(0x02, Buffer.from([2]))), // version 3
    node(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])), // serial
    algorithm,
    name, // issuer
    sequence(time(nowMs - 30 * DAY_MS), time(endMs)),
    name, // subject
    publicKey.export({ type: 'spki', format: 'der' }),
    node(0xa3, sequence(sequence(Buffer.from(SUBJECT_ALT_NAME, 'hex'), node(0x04, sequence(...names))))),
  );
  const signature = node(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: toPem(sequence(body, algorithm, signature)),
  };
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return node(0x30, ...parts);
}

/** Tag, length, value. */
function node(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const { length } = value;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), value]);
  if (length < 0x100) return Buffer.concat([Buffer.from([tag, 0x81, length]), value]);
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 0xff]), value]);
}

/** GeneralizedTime, which has four digits for the year. */
function time(epochMs: number): Buffer {
  const digits = new Date(epochMs).toISOString().replace(/\.\d+Z$|[-:T]/g, '');
  return node(0x18, Buffer.from(`${digits}Z`));
}

function toPem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
