import type { ClockMove } from '../../clients/knowledge.ts';

/** Whether a test clock may have jumped between the two. */
export function mayJump(moves: readonly ClockMove[], fromMs: number, toMs: number): boolean {
  return moves.some((move) => move.fromMs <= toMs && move.toMs > fromMs);
}
