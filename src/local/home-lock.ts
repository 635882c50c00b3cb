/**
 * One process at a time works on a home: its supervisor, a run in single mode, or a `down` or `clean` that tidies up.
 *
 * The lock is a file `lock.<n>` that names its holder; the files of dead holders do not count. A contender that sees no
 * living holder creates its own file, which only one of several can do for the same n, and then looks again: whoever
 * finds another living one beside itself withdraws. Of two that came in by different numbers, at least one sees the
 * other, because each shows itself before it looks. Only the holder removes dead files, so nobody's living file is
 * removed under a number that was used again. (A socket as the lock has that gap, and Node has no file locks.)
 */
import { linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts';

const LOCK_ROLES = ['supervisor', 'down', 'clean', 'single'] as const;
export type LockRole = (typeof LOCK_ROLES)[number];

export interface LockHolder extends ProcessIdentity {
  readonly role: LockRole;
}

export type LockAttempt =
  { readonly held: true; release(): void } | { readonly held: false; readonly holder: LockHolder };

/** The token tells two attempts of one process apart. */
type LockText = LockHolder & { readonly token: string };

const ATTEMPTS_MAX = 32;

export function tryLockHome(home: string, role: LockRole): LockAttempt {
  const self = identify(process.pid);
  if (!self) throw new Failure('INTERNAL', 'this process cannot see itself in the list of processes');
  for (let attempt = 1; ; attempt += 1) {
    const holder = findHolder(home);
    if (holder) return { held: false, holder };
    const mine = (generations(home).at(-1) ?? 0) + 1;
    const token = randomUUID();
    if (!createLock(home, mine, { ...self, role, token })) continue;
    const other = findHolder(home, token);
    // Whoever held it a moment ago may have tidied our file away; then we are not seen, and must start anew.
    if (!other && readHolder(home, mine)?.token === token) {
      removeDead(home, mine);
      return { held: true, release: () => removeOwn(home, mine, token) };
    }
    removeOwn(home, mine, token);
    if (attempt >= ATTEMPTS_MAX) return { held: false, holder: other ?? { ...self, role } };
  }
}

/** Who works on this home now. */
export function readLockHolder(home: string): LockHolder | undefined {
  return findHolder(home);
}

function findHolder(home: string, exceptToken?: string): LockHolder | undefined {
  return generations(home)
    .map((generation) => readHolder(home, generation))
    .find((holder) => holder && holder.token !== exceptToken && isAlive(holder));
}

function removeDead(home: string, mine: number): void {
  for (const generation of generations(home)) {
    const holder = readHolder(home, generation);
    if (generation !== mine && !(holder && isAlive(holder)))
      rmSync(lockFile(home, generation), { force: true });
  }
}

function generations(home: string): number[] {
  return readdirSync(home)
    .map((name) => Number(/^lock\.(\d+)$/.exec(name)?.[1] ?? 0))
    .filter((generation) => generation > 0)
    .sort((a, b) => a - b);
}

/** The link appears with its text in it, so nobody reads half a lock. */
function createLock(home: string, generation: number, text: LockText): boolean {
  const draft = join(home, `lock.${text.token}`);
  writeFileSync(draft, JSON.stringify(text), { mode: 0o600 });
  try {
    linkSync(draft, lockFile(home, generation));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function readHolder(home: string, generation: number): LockText | undefined {
  try {
    const text = readFileSync(lockFile(home, generation), 'utf8');
    const { pid, mark, role, token } = JSON.parse(text) as Partial<LockText>;
    if (typeof pid !== 'number' || typeof mark !== 'string' || typeof token !== 'string') return undefined;
    return { pid, mark, token, role: LOCK_ROLES.find((each) => each === role) ?? 'supervisor' };
  } catch {
    return undefined; // released in between, or damaged: nobody holds it
  }
}

function removeOwn(home: string, generation: number, token: string): void {
  if (readHolder(home, generation)?.token === token) rmSync(lockFile(home, generation), { force: true });
}

function lockFile(home: string, generation: number): string {
  return join(home, `lock.${generation}`);
}
