/**
 * How many tasks a worker lets itself run at once. Under pressure that lasts the number is halved; when it has been
 * calm for a while it grows again, a tenth at a time; in between it stays. It counts for what starts next: nothing that
 * runs is interrupted.
 *
 *   allowed ──(pressed in a row)──→ half of what ran ──(calm in a row)──→ a tenth more … → all of its slots
 *
 * Only what fewer tasks can change is pressure. A CPU in full use is what it was bought for: it counts while this
 * process has a good part in it, and its own loop begins to be late for it. Others who use it up are no reason to wait.
 */
export type PressureFactor = 'memory' | 'cpu' | 'loop';

/** One reading. */
export interface Strain {
  /** Of the fullest limit: machine, container, or the heap of this process. */
  readonly memoryPercent: number;
  /** Of the machine, or of the part of it that may be used. */
  readonly cpuPercent: number;
  /** What this process used itself, of the one core that it can use. */
  readonly ownCpuPercent: number;
  /** Mean delay of its event loop. */
  readonly loopLagMs: number;
}

export interface SlotState {
  readonly allowed: number;
  /** What it was lowered for, until it has recovered. */
  readonly limitedBy: readonly PressureFactor[];
  /** Readings in a row. */
  readonly pressed: number;
  readonly calm: number;
}

export interface PressureFacts {
  readonly strain: Strain;
  /** By the settings. */
  readonly slots: number;
  /** The most that ran at once since the last reading. */
  readonly busy: number;
  readonly state: SlotState;
  readonly sinceChangeMs: number;
}

export interface PressureLimits {
  readonly memoryPercent: number;
  readonly cpuPercent: number;
  readonly loopLagMs: number;
  /** Between two readings. */
  readonly intervalMs: number;
}

export interface SlotDecision extends SlotState {
  readonly reason: 'steady' | 'pressed' | 'lowered' | 'recovering' | 'raised';
}

/** A peak is no pressure, and a breath is no calm. */
const PRESSED_READINGS = 3;
const CALM_READINGS = 3;
/** What was lowered must have had its effect before it is judged again. */
const LOWER_AGAIN_INTERVALS = 2;
const RAISE_AGAIN_INTERVALS = 3;
const RAISE_PART = 0.1;
/** Between pressure and calm lies a stretch in which nothing changes, or it would change for ever. */
const CALM_BELOW = { memoryPoints: 5, cpuPoints: 10, lagPart: 0.5 };
/** With more than this of its core, and its loop so late, a process has a part in what the CPU suffers from; with half of either it has none. */
const OWN_CPU = { percent: 50, lagPart: 0.25 };

export function allSlots(slots: number): SlotState {
  return { allowed: slots, limitedBy: [], pressed: 0, calm: 0 };
}

export function decideSlots(facts: PressureFacts, limits: PressureLimits): SlotDecision {
  const { strain, slots, busy, state, sinceChangeMs } = facts;
  const allowed = Math.min(Math.max(1, state.allowed), slots);
  const pressing = listPressing(strain, limits);
  const pressed = pressing.length > 0 ? state.pressed + 1 : 0;
  const calm = isCalm(strain, limits) ? state.calm + 1 : 0;
  const limitedBy = allowed === slots ? [] : pressing.length > 0 ? pressing : state.limitedBy;

  if (pressed > 0) {
    const due = pressed >= PRESSED_READINGS && sinceChangeMs >= LOWER_AGAIN_INTERVALS * limits.intervalMs;
    if (!due || allowed === 1) return { allowed, limitedBy, pressed, calm, reason: 'pressed' };
    // Slots that nobody uses can be taken away without any effect.
    const used = busy > 0 ? Math.min(allowed, busy) : allowed;
    const fewer = Math.max(1, Math.floor(used / 2));
    return { allowed: fewer, limitedBy: pressing, pressed, calm, reason: 'lowered' };
  }
  if (allowed === slots) return { allowed, limitedBy, pressed, calm, reason: 'steady' };
  if (calm < CALM_READINGS || sinceChangeMs < RAISE_AGAIN_INTERVALS * limits.intervalMs)
    return { allowed, limitedBy, pressed, calm, reason: 'recovering' };
  const more = Math.min(slots, allowed + Math.max(1, Math.ceil(slots * RAISE_PART)));
  return {
    allowed: more,
    limitedBy: more === slots ? [] : limitedBy,
    pressed,
    calm,
    reason: 'raised',
  };
}

function listPressing(strain: Strain, limits: PressureLimits): PressureFactor[] {
  const pressing: Readonly<Record<PressureFactor, boolean>> = {
    memory: strain.memoryPercent > limits.memoryPercent,
    cpu:
      strain.cpuPercent > limits.cpuPercent &&
      strain.ownCpuPercent > OWN_CPU.percent &&
      strain.loopLagMs > limits.loopLagMs * OWN_CPU.lagPart,
    loop: strain.loopLagMs > limits.loopLagMs,
  };
  return (['memory', 'cpu', 'loop'] as const).filter((factor) => pressing[factor]);
}

function isCalm(strain: Strain, limits: PressureLimits): boolean {
  const { memoryPoints, cpuPoints, lagPart } = CALM_BELOW;
  return (
    strain.memoryPercent <= limits.memoryPercent - memoryPoints &&
    (strain.cpuPercent <= limits.cpuPercent - cpuPoints ||
      strain.ownCpuPercent <= OWN_CPU.percent / 2 ||
      strain.loopLagMs <= (limits.loopLagMs * OWN_CPU.lagPart) / 2) &&
    strain.loopLagMs <= limits.loopLagMs * lagPart
  );
}
