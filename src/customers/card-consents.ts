// The consent behind a bound card, from both ends. A card whose last binding is withdrawn is not charged any more: that is written
// where the consent is kept. A consent that is withdrawn takes the bindings of its card with it, so that nobody is called ready
// who cannot be charged. Either happens in the transaction of what came first.
import type { Instant } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Withdrawn } from '../recurring/series.ts';
import type { Service } from '../service.ts';
import type { Binding } from './binding.ts';
import { decideWithdraw } from './binding.commands.ts';
import { findBinding, findBindings, seriesOfBinding } from './binding.store.ts';
import { storeBindingFacts } from './change-binding.store.ts';

export type Recurring = Pick<Service['recurring'], 'seriesOfCustomer' | 'withdraw'>;
type CustomerName = { readonly partyId: string; readonly customerId: string };

const allPages = { after: 0, most: 2_147_483_647 };
const tries = 10;

/** Those with which a card is bound. */
export async function boundCards(tx: Database, customer: CustomerName): Promise<Binding[]> {
  const found = (await findBindings(tx, customer, allPages)) ?? [];
  return found.map(({ binding }) => binding).filter(({ state }) => state.name === 'succeeded');
}

/** Of cards that are bound no more. One that is still bound by another binding stays as it is. */
export async function endConsents(
  tx: Database,
  recurring: Recurring,
  { ended, staying }: { readonly ended: readonly Binding[]; readonly staying: readonly Binding[] },
  how: Withdrawn,
  now: Instant,
): Promise<void> {
  const kept = await seriesOfEach(tx, recurring, staying);
  const concerned = await seriesOfEach(tx, recurring, ended);
  for (const seriesId of [...concerned].filter((each) => !kept.has(each)).sort()) {
    await recurring.withdraw(tx, seriesId, how, now);
  }
}

/** The bindings of the card whose consent was withdrawn. */
export async function withdrawBindingsOf(
  tx: Database,
  recurring: Recurring,
  { seriesId, ...customer }: CustomerName & { readonly seriesId: string },
  now: Instant,
): Promise<void> {
  for (const binding of await boundCards(tx, customer)) {
    const [its] = await seriesOfEach(tx, recurring, [binding]);
    if (its === seriesId) await withdrawOne(tx, customer, binding.id, now);
  }
}

async function withdrawOne(
  tx: Database,
  customer: CustomerName,
  bindingId: string,
  now: Instant,
): Promise<void> {
  for (let attempt = 0; attempt < tries; attempt++) {
    const { stored, boundBefore } = (await findBinding(tx, { ...customer, bindingId })) ?? {};
    if (!stored) return;
    const decision = decideWithdraw(stored.customer, stored.binding, boundBefore, now);
    if (!decision.ok || decision.value.length === 0) return;
    if (await storeBindingFacts(tx, stored, decision.value, now)) return;
  }
  throw new Error(`customer ${customer.customerId} was changed by others ${tries} times in a row`);
}

async function seriesOfEach(
  tx: Database,
  recurring: Recurring,
  bindings: readonly Binding[],
): Promise<Set<string>> {
  const found = new Set<string>();
  for (const { id: bindingId, customerId, partyId, realm, card } of bindings) {
    const named = await seriesOfBinding(tx, { customerId, bindingId });
    const of = { named, customerId, partyId, realm, token: card.token };
    found.add(await recurring.seriesOfCustomer(tx, of));
  }
  return found;
}
