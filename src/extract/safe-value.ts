/** Values of a page as items may hold them: no keys that change objects, and not without end. */
import { Failure } from '../domain/failure.ts';
import { OUTPUT_DEPTH_MAX, type Budget } from './limits.ts';

const UNSAFE = new Set(['__proto__', 'constructor', 'prototype']);

export function isUnsafeKey(name: string): boolean {
  return UNSAFE.has(name);
}

export function refuseUnsafeKey(name: string): void {
  if (isUnsafeKey(name)) throw new Failure('INVALID', `a field cannot be called ${name}`);
}

/** A copy of what JSON gave; unsafe keys and what is too deep are left out. */
export function copySafe(value: unknown, budget: Budget, depth = 0): unknown {
  if (typeof value === 'string') {
    budget.spend(value.length);
    return value;
  }
  budget.spend(1);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= OUTPUT_DEPTH_MAX) return null;
  if (Array.isArray(value)) return value.map((each) => copySafe(each, budget, depth + 1));
  const copy: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(value)) {
    if (!isUnsafeKey(key)) copy[key] = copySafe(each, budget, depth + 1);
  }
  return copy;
}
