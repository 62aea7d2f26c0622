// What a change of a binding means for recurring charges. A bound card starts a series or renews its consent, and a decline
// counts towards network limits.
import { isUndecided } from '../../acquiring/authorisation/domain/challenge.ts';
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { defined } from '../../defined.ts';
import { evolveBinding, type Binding, type BindingFact } from './binding.ts';

/** The consent the binding stands for. Undefined until the binding has succeeded, also if it ends with that. */
export function consentAfter(before: Binding, facts: readonly BindingFact[]) {
  const { customerId, id, partyId, shopId, livemode, card, amount, createdAt, email, recurrentTerms } =
    before;
  const { state } = facts.reduce(evolveBinding, before);
  if (state.name !== 'succeeded' && state.name !== 'withdrawn') return undefined;
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

/** Networks do not count declines by the acquirer itself, nor failed 3-D Secure. */
export function networksDecline({ state }: Binding, answer: BankResponse | undefined) {
  if (!isUndecided(state) || answer?.outcome !== 'declined') return undefined;
  return answer.network !== 'bank' && !answer.code.startsWith('3ds') ? answer : undefined;
}
