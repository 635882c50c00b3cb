/** How a fake proxy treats those who come to it. */
import { seeded } from './seeded.ts';

/**
 *   ok        passes everything on
 *   refuse    does not listen: connections are refused
 *   407       wants other credentials, whatever it is given (SOCKS: refuses the login)
 *   502       cannot reach the target (SOCKS: host unreachable)
 *   hang      takes the connection and says nothing
 *   reset     takes the connection and resets it
 *   slowMs    passes on, after a while
 *   flap      fails (502 or reset) with this probability, in a pattern that the seed determines
 *   dieAfter  passes so many on, then refuses for good
 */
export type Behaviour =
  | 'ok'
  | 'refuse'
  | '407'
  | '502'
  | 'hang'
  | 'reset'
  | { readonly slowMs: number }
  | { readonly flap: number; readonly seed: number }
  | { readonly dieAfter: number };

/** What happens to one use. */
export type Deed = 'pass' | 'refuse' | '407' | '502' | 'hang' | 'reset';

export interface Treatment {
  readonly deed: Deed;
  readonly delayMs: number;
}

/** `use` counts from 1 since the behaviour was set. */
export function decideTreatment(behaviour: Behaviour, use: number): Treatment {
  if (typeof behaviour === 'string') return { deed: behaviour === 'ok' ? 'pass' : behaviour, delayMs: 0 };
  if ('slowMs' in behaviour) return { deed: 'pass', delayMs: behaviour.slowMs };
  if ('dieAfter' in behaviour) return { deed: use > behaviour.dieAfter ? 'refuse' : 'pass', delayMs: 0 };
  const random = seeded(behaviour.seed, 'flap', use);
  return { deed: random.chance(behaviour.flap) ? random.pick(['502', 'reset']) : 'pass', delayMs: 0 };
}
