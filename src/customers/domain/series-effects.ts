// What a change of a binding means for charges without the payer: a bound card begins a series of them, or renews the consent
// to it; a decline counts at the networks like any other. Pure: series-writes.ts writes it.
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { defined } from '../../defined.ts';
import { evolveBinding, type Binding, type BindingFact } from './binding.ts';

/** What the payer has consented to by the binding; undefined when it has not succeeded. */
export function consentAfter(before: Binding, facts: readonly BindingFact[]) {
  const { customerId, id, partyId, shopId, livemode, card, amount, createdAt, email, recurrentTerms } =
    before;
  const { state } = facts.reduce(evolveBinding, before);
  if (state.name !== 'succeeded') return undefined;
  const { ip, fingerprint, url } = card.clientInfo;
  const contactInfo = defined({ email });
  return {
    customerId,
    bindingId: id,
    partyId,
    shopId,
    livemode,
    card: { ...card.details, token: card.token },
    evidence: {
      payer: { ip, fingerprint, ...defined({ page: url }), contactInfo },
      payment: { createdAt, amountMinor: Number(amount.minor), currency: amount.currency, ...state.approval },
    },
    ...defined({ given: recurrentTerms }),
  };
}

/** Not by the bank alone, and not for the authentication before. */
export function isNetworksDecline({ state }: Binding, answer: BankResponse | undefined): boolean {
  const isCharge = state.name === 'authorising' || state.name === 'challenged';
  if (!isCharge || answer?.outcome !== 'declined') return false;
  return answer.network !== 'bank' && !answer.code.startsWith('3ds');
}
