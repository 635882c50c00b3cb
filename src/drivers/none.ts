/** Nobody: what is decided is stored and told, and somebody else may act on it. */
import type { ScaleDriver } from './driver.ts';

export function createNoDriver(): ScaleDriver {
  return {
    name: 'none',
    count: () => Promise.resolve(undefined),
    apply: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
