// The facts of customers and of their bindings as JSON in the customer's log. A fact with a bindingId that is not about the
// customer himself says which binding it is about. Money is a JSON integer there.
import { livemodeOf, modeName, type ModeName } from '../../livemode.ts';
import type { Currency } from '../../money.ts';
import type { BindingFact, BindingTerms } from '../domain/binding.ts';
import type { CustomerFact } from '../domain/customer.ts';

type TermsJson = Omit<BindingTerms, 'amount' | 'livemode'> & {
  readonly realm: ModeName;
  readonly amount: { readonly minor: number; readonly currency: Currency };
};

export function isBindingFact(fact: BindingFact | CustomerFact): fact is BindingFact {
  return fact.type.startsWith('binding_');
}

export function customerFactToJson(fact: CustomerFact): unknown {
  return fact;
}

export function bindingFactToJson(fact: BindingFact, bindingId: string): unknown {
  if (fact.type !== 'binding_started') return { ...fact, bindingId };
  const { amount, livemode, ...terms } = fact.terms;
  const json: TermsJson = {
    ...terms,
    amount: { minor: Number(amount.minor), currency: amount.currency },
    realm: modeName(livemode),
  };
  return { type: fact.type, bindingId, terms: json };
}

/** A fact of the log, and which binding it is about where it is about one. */
export function customerFactFromJson(
  json: unknown,
): { readonly fact: CustomerFact } | { readonly fact: BindingFact; readonly bindingId: string } {
  const read = json as CustomerFact | (BindingFact & { bindingId: string });
  if (!isBindingFact(read)) return { fact: read };
  const { bindingId, ...fact } = read as BindingFact & { bindingId: string };
  if (fact.type !== 'binding_started') return { bindingId, fact };
  const { amount, realm, ...terms } = fact.terms as unknown as TermsJson;
  return {
    bindingId,
    fact: {
      type: fact.type,
      terms: {
        ...terms,
        amount: { minor: BigInt(amount.minor), currency: amount.currency },
        livemode: livemodeOf(realm),
      },
    },
  };
}
