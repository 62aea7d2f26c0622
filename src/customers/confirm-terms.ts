// A payer confirms new terms of a series with its card, which is authenticated, charged and refunded as for a binding. The
// binding saves no card.
import type { Instant } from '../clock.ts';
import type { PaymentResource } from '../cards/domain/payment-resource.ts';
import type { Ids } from '../ids.ts';
import type { Merchants } from '../merchants/merchants.ts';
import type { Database } from '../platform/database/database.ts';
import type { MandateGiven } from '../recurring/domain/mandate.ts';
import type { Series } from '../recurring/domain/series.ts';
import { accept, refuse, type Outcome } from '../refusal.ts';
import type { TerminalRefusal } from '../acquiring/banks.ts';
import { beginBinding, type BeginBindingDeps } from './begin-binding.ts';
import type { Renewal } from './domain/binding.ts';
import { decideCreate } from './domain/customer.ts';
import { findBindings } from './store/bindings.ts';
import { findCustomer, storeNewCustomer, type StoredCustomer } from './store/customers.ts';

export type ConfirmTermsDeps = BeginBindingDeps & {
  readonly ids: Ids;
  readonly merchants: Pick<Merchants, 'party' | 'shop' | 'trading'>;
};

export type Confirmation = {
  readonly series: Series;
  /** The customer of an earlier attempt with the same link. */
  readonly customerId?: string;
  readonly card: PaymentResource;
  readonly agreed: MandateGiven;
  readonly renews: Renewal;
  readonly redirectUrl: string;
};

/** Returns what names the binding. The caller is in a transaction. */
export async function confirmTerms(
  deps: ConfirmTermsDeps,
  { series, customerId, card, agreed, renews, redirectUrl }: Confirmation,
  now: Instant,
): Promise<
  | Outcome<
      { readonly customerId: string; readonly bindingId: string },
      TerminalRefusal | 'tooManyBindings' | 'invalidPaymentToolToken' | 'customerNotFound'
    >
  | 'versionConflict'
> {
  const stored = await customerOf(deps, series, customerId, now);
  const shop = await deps.merchants.trading(series);
  if (!stored || !shop.ok) return refuse(stored ? 'operationNotPermitted' : 'customerNotFound');
  const id = deps.ids.next();
  const terms = { id, card, recurrentTerms: agreed, renews, redirectUrl, fingerprint: Buffer.alloc(0) };
  const begun = await beginBinding(deps, { stored, shop: shop.value }, terms, now);
  if (begun === 'versionConflict' || !begun.ok) return begun;
  return accept({ customerId: stored.customer.id, bindingId: id });
}

/** A series that began with a payment has no customer: one is created, and stays without a card. */
async function customerOf(
  { db, ids, merchants }: ConfirmTermsDeps,
  { root, partyId, shopId, mandate }: Series,
  earlier: string | undefined,
  now: Instant,
): Promise<StoredCustomer | undefined> {
  const known = 'customerId' in root ? root.customerId : earlier;
  const found = known === undefined ? undefined : await findCustomer(db, partyId, known);
  if (found || 'customerId' in root) return found;
  const party = await merchants.party(partyId);
  if (!party) return undefined;
  const { contactInfo } = mandate.payer;
  const command = { id: ids.next(), shopId, contactInfo, metadata: {} };
  const created = decideCreate(party, await merchants.shop(partyId, shopId), command, now);
  if (!created.ok || !(await storeNewCustomer(db, created.value, Buffer.alloc(0)))) return undefined;
  return findCustomer(db, partyId, command.id);
}

/** The card that is charged now: of a customer the one bound last, because the first may be gone. */
export async function tokenOfSeries(
  db: Database,
  { root, partyId, id }: Series,
  first: string,
): Promise<string> {
  if (!('customerId' in root)) return first;
  const page = { after: 0, limit: 2_147_483_647 };
  const bindings = (await findBindings(db, { partyId, customerId: root.customerId }, page)) ?? [];
  const bound = bindings.filter(
    ({ binding, seriesId }) => binding.state.name === 'succeeded' && seriesId === id,
  );
  return bound.at(-1)?.binding.card.token ?? first;
}
