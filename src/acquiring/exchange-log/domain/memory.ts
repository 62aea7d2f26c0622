// How long a bank answers a repeated operation as before. Later it may do it again, so nothing is sent that may have been sent.
import { epochMsOf, type Instant } from '../../../clock.ts';
import type { Abilities } from '../../domain/abilities.ts';

/** For clocks that differ, and for the way to the bank. */
const longestMarginMs = 60 * 60_000;

/** An operation whose beginning is not known may be older than any memory. */
export function isRemembered(
  begunAt: Instant | undefined,
  { repeatableMs }: Pick<Abilities, 'repeatableMs'>,
  now: Instant,
): boolean {
  if (repeatableMs === 'always') return true;
  if (begunAt === undefined) return false;
  const marginMs = Math.min(repeatableMs / 10, longestMarginMs);
  return epochMsOf(now) - epochMsOf(begunAt) < repeatableMs - marginMs;
}
