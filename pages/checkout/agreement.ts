// What the payer is asked to agree to if their card is saved. A page that was requested without a token shows nothing of the invoice, so
// it asks once it has read the order.
import type { CheckoutFacts } from '../../src/checkout/domain/checkout-page.ts';
import { consentTextOf, type ConsentText } from '../../src/checkout/domain/consent-text.ts';
import { firstStated, type MandateTerms } from '../../src/receipts/domain/terms.ts';
import { existing } from '../docs/elements.ts';
import type { Progress } from './progress.ts';

export type Agreement = { readonly terms: MandateTerms; readonly consent: ConsentText };

/** Undefined if no card is saved, or until the order is known. */
export function agreementOf(facts: CheckoutFacts, order: Progress['order']): Agreement | undefined {
  const { consent, words } = facts;
  if (consent) return { terms: facts.terms, consent };
  if (!order || !(facts.recurring || order.recurring)) return undefined;
  const terms = firstStated(order.recurring, facts.terms);
  return { terms, consent: consentTextOf({ ...facts, ...order, terms }, words.consent) };
}

export function showAgreement({ consent }: Agreement, { words }: CheckoutFacts): void {
  const field = existing('consent-field', HTMLElement);
  existing('consent-text', HTMLElement).textContent = consent.text;
  existing('consent-stop', HTMLElement).textContent = consent.howToStop;
  field.hidden = false;
  const email = existing('email', HTMLInputElement);
  email.required = true;
  for (const label of email.labels ?? []) label.textContent = words.page.email;
}
