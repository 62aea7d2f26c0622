// The queue of refunds that wait for their shop's money. Each is reserved in the order of its request, so that small refunds do not
// keep a large one waiting.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { statement } from '../../platform/database/statement.ts';

export type ShopName = { readonly partyId: string; readonly shopId: string };
type RefundName = { readonly invoiceId: string; readonly paymentId: string; readonly refundId: string };

const readFirst = statement({
  name: 'read_first_waiting_refund',
  parameters: { party_id: 'text', shop_id: 'text' },
  row: { invoice_id: 'text', payment_id: 'text', refund_id: 'text' },
  text: `select invoice_id, payment_id, refund_id from waiting_refund
         where party_id = :party_id and shop_id = :shop_id
         order by created_at, invoice_id, payment_id, refund_id limit 1`,
});

const wakeFirst = statement({
  name: 'wake_first_waiting_refund',
  parameters: { party_id: 'text', shop_id: 'text', now: 'timestamptz' },
  row: {},
  text: `
    update payment set wake_at = least(wake_at, :now)
    from (
      select invoice_id, payment_id from waiting_refund
      where party_id = :party_id and shop_id = :shop_id
      order by created_at, invoice_id, payment_id, refund_id limit 1
    ) as first
    where payment.invoice_id = first.invoice_id and payment.payment_id = first.payment_id`,
});

export async function firstWaitingRefund(
  db: Pick<Database, 'run'>,
  { partyId, shopId }: ShopName,
): Promise<RefundName | undefined> {
  const [row] = await db.run(readFirst, { party_id: partyId, shop_id: shopId });
  return row && { invoiceId: row.invoice_id, paymentId: row.payment_id, refundId: row.refund_id };
}

const countOfShop = statement({
  name: 'count_waiting_refunds',
  parameters: { party_id: 'text', shop_id: 'text' },
  row: { waiting: 'int8' },
  text: 'select count(*) as waiting from waiting_refund where party_id = :party_id and shop_id = :shop_id',
});

export async function countWaitingRefunds(
  db: Pick<Database, 'run'>,
  { partyId, shopId }: ShopName,
): Promise<number> {
  const [row] = await db.run(countOfShop, { party_id: partyId, shop_id: shopId });
  return Number(row?.waiting);
}

/** After money came in, or after the refund before it left the queue. Without this call the refund finds the money at its next look. */
export async function wakeFirstWaitingRefund(
  db: Pick<Database, 'run'>,
  { partyId, shopId }: ShopName,
  now: Instant,
): Promise<void> {
  await db.run(wakeFirst, { party_id: partyId, shop_id: shopId, now });
}
