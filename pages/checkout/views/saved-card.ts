// The saved card of a payer whose customer's token stands in the address: they pay with it, or choose another card.
import { printedCard } from '../../../src/cards/domain/printed-card.ts';
import type { CheckoutFacts } from '../../../src/checkout/domain/checkout-page.ts';
import { fill } from '../../../src/checkout/domain/translations.ts';
import { existing } from '../../docs/elements.ts';
import { openApi, type Api } from '../api.ts';
import type { Customer } from '../session.ts';

type Card = { readonly lastDigits: string; readonly paymentSystem: string };
type Binding = {
  readonly isActive?: boolean;
  readonly paymentResource: { readonly paymentToolDetails: Card };
};
type OfShop = { readonly shopID: string; readonly status: string };

export type SavedChoice = {
  /** Whether the payer pays with it now. */
  isChosen(): boolean;
  /** It is not offered again. */
  withdraw(): void;
  /** After a change of the language. */
  speak(): void;
};

/** Undefined if the card must not pay this invoice: then nothing of it is shown. */
export async function findSavedCard(
  { id, token }: Customer,
  invoice: { readonly id: string; readonly token: string; readonly api: Api },
): Promise<Card | undefined> {
  // Two parties may have shops of the same name.
  if (partyIn(token) !== partyIn(invoice.token)) return undefined;
  const api = openApi(token);
  const path = `customers/${encodeURIComponent(id)}`;
  const [order, customer, bindings] = await Promise.all([
    invoice.api.get<OfShop>(`invoices/${invoice.id}`),
    api.get<OfShop>(path),
    api.get<readonly Binding[]>(`${path}/bindings`),
  ]);
  if (order.came !== 'body' || customer.came !== 'body' || bindings.came !== 'body') return undefined;
  if (customer.body.shopID !== order.body.shopID || customer.body.status !== 'ready') return undefined;
  return bindings.body.find(({ isActive }) => isActive)?.paymentResource.paymentToolDetails;
}

function partyIn(token: string): unknown {
  try {
    const [, claims = ''] = token.split('.');
    return (JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) as { party?: unknown }).party;
  } catch {
    return undefined;
  }
}

export function offerSavedCard(card: Card, { words }: CheckoutFacts): SavedChoice {
  const [saved, entry] = [existing('saved', HTMLElement), existing('entry', HTMLElement)];
  const [text, other] = [existing('saved-text', HTMLElement), existing('saved-switch', HTMLButtonElement)];
  // A payer who has begun to enter a card is not interrupted.
  let isChosen = existing('number', HTMLInputElement).value === '';

  function show(): void {
    // It stays on one line.
    const said = { card: printedCard(card).replaceAll(' ', '\u00a0') };
    entry.hidden = isChosen;
    text.hidden = !isChosen;
    text.textContent = isChosen ? fill(words.page.savedCard, said) : '';
    other.textContent = isChosen ? words.page.otherCard : fill(words.page.savedAgain, said);
    saved.hidden = false;
  }
  other.addEventListener('click', () => {
    isChosen = !isChosen;
    show();
    if (!isChosen) existing('number', HTMLInputElement).focus();
  });
  const isInEntry = entry.contains(document.activeElement);
  show();
  // Not on the button that pays: the payer may be about to type.
  if (isChosen && isInEntry) other.focus();
  return {
    isChosen: () => isChosen,
    withdraw() {
      isChosen = false;
      show();
      saved.hidden = true;
    },
    speak: show,
  };
}
