/** When a file is followed by the next. */
export interface FileFacts {
  readonly bytes: number;
  readonly openedAt: number; // epoch ms
  readonly now: number; // epoch ms
}

export interface RotationLimits {
  readonly rotateBytes: number;
  readonly rotateMs?: number | undefined;
}

export type RotationReason = 'size' | 'age';

/** An empty file is never followed by another one. */
export function decideRotation(file: FileFacts, limits: RotationLimits): RotationReason | undefined {
  if (file.bytes === 0) return undefined;
  if (file.bytes >= limits.rotateBytes) return 'size';
  const { rotateMs } = limits;
  return rotateMs !== undefined && file.now - file.openedAt >= rotateMs ? 'age' : undefined;
}
