// Requests that arrive at a node in one turn, so that the service writes them in one statement: a shop bills several of its payers.
import type { Chance } from '../world/chance.ts';
import type { Knowledge, Wish } from './knowledge.ts';
import { firstParents, newInvoice, payment, withoutPayer } from './shop.ts';

export const billsTogether = 'bill several payers at once';

const fewest = 4;
const most = 12;
const monthMs = 30 * 24 * 3_600_000;

/** Invoices, or charges of those that were not charged yet. Some series are charged twice, and some requests have the same name. */
export function wishesTogether(known: Knowledge, chance: Chance, now: () => string): readonly Wish[] {
  const count = fewest + chance.below(most - fewest + 1);
  const externalID = `name-${known.named++}`;
  const named = () => (chance.isTrue(0.3) ? { externalID } : {});
  const tried = new Set(known.payments.map(({ invoiceId }) => invoiceId));
  const untried = known.invoices.filter(({ id }) => !tried.has(id));
  if (untried.length < fewest)
    return Array.from({ length: count }, () => {
      const amount = chance.oneOf([100, 100, 6_000]);
      return newInvoice(known, now, { shop: 'TEST', amount, lifeMs: monthMs, ...named() });
    });
  const parents = known.parents.slice(0, firstParents);
  let next = chance.below(parents.length);
  return untried.slice(-count).flatMap((invoice) => {
    const ofShop = parents.filter(({ invoiceId }) => shopOf(known, invoiceId) === invoice.shop);
    const parent = ofShop[next % ofShop.length];
    if (chance.isTrue(0.8)) next += 1;
    const wish = payment(known, chance, parent && withoutPayer(parent), now, 0, invoice);
    return wish ? { ...wish, body: { ...wish.body, ...named() } } : [];
  });
}

function shopOf(known: Knowledge, invoiceId: string): string | undefined {
  return known.invoices.find(({ id }) => id === invoiceId)?.shop;
}
