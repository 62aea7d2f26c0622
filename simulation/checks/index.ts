// The checks of a running world, in three strengths. They are written apart from the service: nothing here is imported from it,
// and what must be true is stated a second time.
import type { CheckWorld, Finding } from './world.ts';

export type { Acknowledged, BankEntry, CheckWorld, Delivery, Finding } from './world.ts';

/** Cheap: what has changed since the last call. May be asked at any moment, also in the middle of everything. */
export async function incremental(_world: CheckWorld): Promise<Finding[]> {
  return [];
}

/** Everything that must be true at any moment, of everything there is. */
export async function whole(_world: CheckWorld): Promise<Finding[]> {
  return [];
}

/** Also what must be true once faults have stopped and nothing is due any more. */
export async function settledFindings(_world: CheckWorld): Promise<Finding[]> {
  return [];
}
