// Whether the entered data can be a card for payouts; pure. The number is enough, and everything else that is given must be right.
import type { Instant } from '../../clock.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import {
  expiryOf,
  isExpiry,
  isPast,
  passesLuhn,
  paymentSystemOf,
  paymentSystems,
  type Card,
  type EnteredCard,
} from './card.ts';
import { defined } from '../../defined.ts';

type EnteredPayoutCard = Omit<EnteredCard, 'expDate'> & { readonly expDate?: string };

/** In a sandbox a card may have expired, as published test cards for payouts have. */
export function checkPayoutCard(
  entered: EnteredPayoutCard,
  now: Instant,
  options: { readonly takesExpired: boolean },
): Outcome<Card, 'unsupportedCard' | 'invalidCardData'> {
  const { number, expDate, securityCode, holder } = entered;
  const system = paymentSystemOf(number);
  if (!system) return refuse('unsupportedCard');
  const { lengths, codeLengths = [3] } = paymentSystems[system];
  if (!passesLuhn(number) || !lengths.includes(number.length)) return refuse('invalidCardData');
  if (securityCode !== undefined && !codeLengths.includes(securityCode.length))
    return refuse('invalidCardData');
  const expiry = expDate === undefined ? undefined : expiryOf(expDate);
  if (expiry !== undefined && !isExpiry(expiry)) return refuse('invalidCardData');
  if (expiry !== undefined && isPast(expiry, now) && !options.takesExpired) {
    return refuse('invalidCardData', { message: 'Card is expired.' });
  }
  return accept({
    number,
    ...defined({ expiry, holder }),
  });
}
