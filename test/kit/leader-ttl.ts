/** How long a leader that no longer answers keeps its place in a test. */

/** For tests that are not about it: a machine that is busy elsewhere for some seconds deposes nobody. */
export const STEADY_TTL = '20s';
/** For tests in which a leader dies or sleeps, and the next one is waited for. */
export const QUICK_TTL = '1s';
