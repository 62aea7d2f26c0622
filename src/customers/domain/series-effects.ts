// What a change of a binding means for charges without the payer: a bound card begins a series of them, or renews the consent
// to it; a decline counts at the networks like any other. Written in the transaction of the change.
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { AppContext } from '../../app/app-context.ts';
import { nameSeries } from '../store/binding-changes.ts';
import { evolveBinding, type Binding, type BindingFact } from './binding.ts';
import { isBindingFact } from '../store/codec.ts';
import type { CustomerFact } from './customer.ts';
import { defined } from '../../defined.ts';

/** Undefined when the change concerns no series and no counter. `answer` is what the bank said, where it led to the change. */
export function seriesWriteOf(
  before: Binding,
  facts: readonly (BindingFact | CustomerFact)[],
  answer: BankResponse | undefined,
  now: Instant,
  recurring: Pick<AppContext['recurring'], 'bind' | 'declined'>,
): ((tx: Database) => Promise<void>) | undefined {
  const { customerId, id, partyId, shopId, livemode, card, amount, createdAt, email, recurrentTerms } =
    before;
  // To a series it is what a payment is: something with two names, at which the payer was present.
  const member = { invoiceId: customerId, paymentId: id };
  const owner = { ...member, partyId, shopId, livemode };
  const isCharge = before.state.name === 'authorising' || before.state.name === 'challenged';
  if (facts.some(({ type }) => type === 'binding_succeeded')) {
    const { state } = facts.filter(isBindingFact).reduce(evolveBinding, before);
    if (state.name !== 'succeeded') return undefined;
    const { ip, fingerprint, url } = card.clientInfo;
    const contactInfo = email === undefined ? {} : { email };
    const evidence = {
      payer: { ip, fingerprint, ...defined({ page: url }), contactInfo },
      payment: { createdAt, amountMinor: Number(amount.minor), currency: amount.currency, ...state.approval },
    };
    const consent = {
      ...owner,
      customerId,
      card: { ...card.details, token: card.token },
      evidence,
      ...defined({ given: recurrentTerms }),
    };
    return async (tx) => {
      const seriesId = await recurring.bind(tx, consent, now);
      await nameSeries(tx, { customerId, bindingId: id }, seriesId);
    };
  }
  if (isCharge && answer?.outcome === 'declined' && isNetworks(answer))
    return (tx) => recurring.declined(tx, { ...owner, amount, token: card.token }, now);
  return undefined;
}

/** Not by the bank alone, and not for the authentication before. */
function isNetworks({ network, code }: BankResponse & { outcome: 'declined' }): boolean {
  return network !== 'bank' && !code.startsWith('3ds');
}
