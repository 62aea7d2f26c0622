// Which series can get new terms.
import type { Instant } from '../../clock.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import type { Series } from './series.ts';

/** If the consent has ended, or the card has expired or was stopped, new terms need a new card. */
export function mayRenew(
  { state, card }: Pick<Series, 'state' | 'card'>,
  now: Instant,
): Outcome<undefined, 'recurrentConsentRevoked' | 'recurrentCardExpired' | 'recurrentStopped'> {
  if (state.name === 'withdrawn') return refuse('recurrentConsentRevoked');
  if (state.name === 'stopped' && state.scope !== 'series') return refuse('recurrentStopped');
  return now >= card.endsAt ? refuse('recurrentCardExpired') : accept(undefined);
}
