// A payment whose payer was authenticated by a 3-D Secure server of the merchant: its result is checked, and its value sealed.
import { parseInstant, type Instant } from '../../clock.ts';
import type { CardDetails } from '../../cards/domain/card.ts';
import type { Cards } from '../../cards/vault.ts';
import { defined } from '../../defined.ts';
import type { Currency } from '../../money.ts';
import type { Database } from '../../platform/database/database.ts';
import { validationMessage } from '../../platform/http/errors/validate.ts';
import { accept, refuse } from '../../refusal.ts';
import { requireFitting, type AuthenticatedElsewhere } from '../domain/authentication/elsewhere.ts';
import type { PayableInvoice } from '../domain/commands.ts';
import type { PaymentTerms } from '../domain/payment.ts';
import { isAuthenticationUsed } from '../store/payments.ts';
import type { AuthenticatedParams } from './schema.ts';

/** A request that is refused has not used it. The statement that creates the payment checks again that nothing else has. */
export async function requireUsable(
  db: Database,
  { authenticated, now }: { readonly authenticated: AuthenticatedParams | undefined; readonly now: Instant },
  { partyId, amount }: PayableInvoice,
  card: CardDetails,
) {
  if (!authenticated) return accept(undefined);
  const said = saidBy(authenticated);
  if (!said)
    return refuse('invalidRequest', {
      message: validationMessage('authenticated.at', 'no_match', 'must be a date-time'),
    });
  const { amount: minor, currency } = authenticated;
  const of = { amount: { minor: BigInt(minor), currency: currency as Currency }, card: authenticated.card };
  const fits = requireFitting({ ...said, for: of }, { amount, card }, now);
  if (!fits.ok) return fits;
  return (await isAuthenticationUsed(db, partyId, said.dsTransId))
    ? refuse('authenticationUsed')
    : accept(undefined);
}

/** Seals the value until the message to the bank takes it out, or 15 minutes have passed. */
export async function kept(
  cards: Pick<Cards, 'keepAuthentication'>,
  db: Database,
  authenticated: AuthenticatedParams,
  { partyId, payer }: Pick<PaymentTerms, 'partyId' | 'payer'>,
): Promise<PaymentTerms['authenticated']> {
  const said = saidBy(authenticated);
  if (!said) return undefined;
  const keptAs = await cards.keepAuthentication(db, partyId, payer.token, authenticated.value);
  return { ...said, keptAs };
}

function saidBy(authenticated: AuthenticatedParams): AuthenticatedElsewhere | undefined {
  const { version, status, eci, dsTransID: dsTransId, acsTransID: acsTransId } = authenticated;
  const at = parseInstant(authenticated.at);
  return at && { version, status, eci, dsTransId, at, ...defined({ acsTransId }) };
}
