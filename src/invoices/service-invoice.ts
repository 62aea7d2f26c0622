// Invoices that the service makes automatically, under an ID that was drawn before.
import type { Instant } from '../clock.ts';
import type { Merchants } from '../merchants/merchants.ts';
import type { Database } from '../platform/database/database.ts';
import { requestFingerprint } from '../platform/http/idempotent-create.ts';
import { decideCreate, decideRescind, type CreateInvoice } from './domain/invoice.ts';
import { changeInvoice, storeNewInvoice } from './store/invoices.ts';

type ServiceInvoice = Pick<
  CreateInvoice,
  'id' | 'product' | 'currency' | 'dueDate' | 'cart' | 'recurring' | 'subscriptionId'
> & {
  readonly amountMinor: bigint;
};

/** The caller has found that the shop may trade. */
export async function createInvoice(
  tx: Database,
  { partyId, shopId }: { readonly partyId: string; readonly shopId: string },
  invoice: ServiceInvoice,
  now: Instant,
  merchants: Merchants,
): Promise<void> {
  const party = await merchants.party(partyId);
  if (!party) throw new Error(`Party ${partyId} of an invoice is not found.`);
  const shop = await merchants.shop(partyId, shopId);
  const decision = decideCreate(party, shop, { metadata: {}, ...invoice }, now);
  if (!decision.ok) throw new Error(`Invoice ${invoice.id} cannot be created: ${decision.refusal.code}.`);
  if (!(await storeNewInvoice(tx, decision.value, requestFingerprint([invoice.id]))))
    throw new Error(`Invoice ${invoice.id} was not written.`);
}

/** False while a payment may still take its money, or has taken it: then nothing changes. */
export async function rescindInvoice(
  tx: Database,
  name: { readonly partyId: string; readonly invoiceId: string },
  reason: string,
  now: Instant,
): Promise<boolean> {
  let wasCancelled = false;
  const outcome = await changeInvoice(tx, name, now, (invoice) => {
    wasCancelled = invoice.status === 'cancelled';
    return decideRescind(invoice, reason);
  });
  return wasCancelled || outcome?.ok === true;
}
