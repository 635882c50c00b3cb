/** What a value from outside may look like: keys that reach into JavaScript itself, and depths no one writes, are refused. */
import { Failure } from '../domain/failure.ts';

export const DEPTH_MAX = 64;

const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

export function refuseKey(key: string): void {
  if (FORBIDDEN_KEYS.has(key)) throw new Failure('INVALID', `it has a forbidden key: ${key}`);
}

export function tooDeep(): Failure {
  return new Failure('INVALID', `it is nested deeper than ${DEPTH_MAX} levels`);
}

/** For values that `JSON.parse` made. */
export function refuseHostile(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  if (depth === DEPTH_MAX) throw tooDeep();
  if (Array.isArray(value)) {
    for (const item of value) refuseHostile(item, depth + 1);
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    refuseKey(key);
    refuseHostile(item, depth + 1);
  }
}
