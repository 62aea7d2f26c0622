// Revokes the consent with the last binding of a card, and the bindings of a card with its consent, in the same transaction.
// So a `ready` customer always has a card that can be charged.
import { latest, type Instant } from '../clock.ts';
import { retryOnConflict, type Database } from '../platform/database/database.ts';
import type { Revocation } from '../recurring/domain/series.ts';
import { decideRevoke } from './domain/commands.ts';
import {
  findBinding,
  findBindingsOfSeries,
  findBoundSeries,
  findLastRevoked,
  loadBinding,
  type StoredBinding,
} from './store/bindings.ts';
import { storeBindingFacts } from './store/binding-changes.ts';
import type { Consents } from '../recurring/port.ts';

export type SeriesOfCustomers = Pick<Consents, 'seriesOfCustomer' | 'revoke'>;
type CustomerName = { readonly partyId: string; readonly customerId: string };

/** The series of the customer's bound cards. */
export async function seriesOfBindings(
  tx: Database,
  consents: SeriesOfCustomers,
  { customerId }: CustomerName,
): Promise<Set<string>> {
  const { named, bindingsWithout } = await findBoundSeries(tx, customerId);
  const series = new Set(named);
  for (const bindingId of bindingsWithout) {
    const stored = await loadBinding(tx, { customerId, bindingId });
    if (stored) series.add(await seriesOf(tx, consents, stored));
  }
  return series;
}

/** Does nothing while another binding of the customer binds the same card. */
export async function revokeConsentOf(
  tx: Database,
  consents: SeriesOfCustomers,
  revoked: StoredBinding,
  how: Revocation,
  now: Instant,
): Promise<void> {
  const its = await seriesOf(tx, consents, revoked);
  if (!(await seriesOfBindings(tx, consents, revoked.binding)).has(its))
    await consents.revoke(tx, its, how, now);
}

/** Revokes the bindings of the card whose consent was revoked. */
export async function revokeBindingsOf(
  tx: Database,
  consents: SeriesOfCustomers,
  { seriesId, ...customer }: CustomerName & { readonly seriesId: string },
  now: Instant,
): Promise<void> {
  const { customerId } = customer;
  for (const bindingId of await findBindingsOfSeries(tx, { customerId, seriesId })) {
    const stored = await loadBinding(tx, { customerId, bindingId });
    const its = stored && (await seriesOf(tx, consents, stored));
    if (its === seriesId) await revokeOne(tx, customer, bindingId, now);
  }
}

function revokeOne(tx: Database, customer: CustomerName, bindingId: string, now: Instant): Promise<void> {
  return retryOnConflict(`customer ${customer.customerId}`, async () => {
    const found = await findBinding(tx, { ...customer, bindingId });
    if (!found?.stored) return undefined;
    const { stored, changedAt, boundBefore } = found;
    const decision = decideRevoke(stored.customer, stored.binding, boundBefore, latest(now, changedAt));
    if (!decision.ok || decision.value.length === 0) return undefined;
    return (await storeBindingFacts(tx, stored, decision.value, now)) ? undefined : 'versionConflict';
  });
}

/** Who revoked the last card of a customer without one, and the consent with it. */
export async function whoRevokedLast(
  db: Database,
  consents: Pick<Consents, 'seriesOfCustomer' | 'find'>,
  customerId: string,
): Promise<Revocation['by'] | undefined> {
  const bindingId = await findLastRevoked(db, customerId);
  const stored = bindingId === undefined ? undefined : await loadBinding(db, { customerId, bindingId });
  const { state } = (stored && (await consents.find(db, await seriesOf(db, consents, stored))))?.series ?? {};
  return state?.name === 'withdrawn' ? state.by : undefined;
}

/** Also finds the series of a binding that does not name it. */
export function seriesOf(
  tx: Database,
  consents: Pick<Consents, 'seriesOfCustomer'>,
  { binding, seriesId: named }: StoredBinding,
): Promise<string> {
  const { customerId, partyId, livemode, card } = binding;
  return consents.seriesOfCustomer(tx, { named, customerId, partyId, livemode, token: card.token });
}
