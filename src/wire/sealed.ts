/**
 * Secrets on their way through NATS: sealed with AES-256-GCM by a key that the server has not. What a seal is about (the
 * key of the record it belongs to) is sealed in, so that nobody can move it to another record. Without a key it
 * is plain text: then NATS and its disk must be trusted.
 */
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { Failure } from '../domain/failure.ts';
import type { Secret } from '../domain/secret.ts';

export interface Seal {
  seal(text: string, about: string): string;
  /** Throws `INVALID` for what this key did not seal about this. */
  open(sealed: string, about: string): string;
}

/** The version: a change of the form gets another one, and the old one can still be told. */
const SEALED = 'sealed1:';
const PLAIN = 'plain1:';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const HINT = 'Set egress.key to the key with which it was sealed, or add it anew.';

export function createSeal(secret: Secret | undefined): Seal {
  let made: Buffer | undefined;
  // Stretched, because somebody may have typed it; made when it is first needed, because that takes a while.
  const key = (from: Secret): Buffer => (made ??= scryptSync(from.reveal(), 'trawl egress', KEY_BYTES));

  return {
    seal(text, about) {
      if (!secret) return PLAIN + text;
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key(secret), nonce).setAAD(Buffer.from(about));
      const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return SEALED + sealed.toString('base64url');
    },
    open(sealed, about) {
      if (sealed.startsWith(PLAIN)) return sealed.slice(PLAIN.length);
      if (!sealed.startsWith(SEALED))
        throw new Failure('INVALID', `what is stored of ${about} is not sealed`);
      if (!secret) throw new Failure('INVALID', `${about} is sealed, and there is no key`, { hint: HINT });
      return unseal(key(secret), Buffer.from(sealed.slice(SEALED.length), 'base64url'), about);
    },
  };
}

function unseal(key: Buffer, bytes: Buffer, about: string): string {
  try {
    const opener = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    opener.setAAD(Buffer.from(about)).setAuthTag(bytes.subarray(-TAG_BYTES));
    const text = opener.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([text, opener.final()]).toString('utf8');
  } catch {
    // The cause would say no more, and must not say what was in it.
    throw new Failure('INVALID', `${about} was sealed with another key, or has been changed since`, {
      hint: HINT,
    });
  }
}
