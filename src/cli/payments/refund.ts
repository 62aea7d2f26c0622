// mandate payments refund: an operator refunds a payment when its merchant cannot.
import type { Banks } from '../../acquiring/banks.ts';
import { openMerchants } from '../../merchants/merchants.ts';
import { livemodeOf } from '../../livemode.ts';
import { defined } from '../../defined.ts';
import { readPaymentFacts } from '../../payments/store/invoice-log.ts';
import { loadDatedPayment } from '../../payments/store/payments.ts';
import { startRefund } from '../../payments/start-refund.ts';
import type { RefundTerms } from '../../payments/domain/payment.ts';
import { buildService } from '../../app/compose.ts';
import type { Foundation } from '../../app/composition/foundation.ts';
import { refusalText, requireReason, withFoundation } from '../foundation.ts';
import { minorOf } from '../option-values.ts';

const tries = 10;

type Order = { readonly reason: string; readonly amountMinor?: bigint };

export async function refund(
  invoiceId: string,
  paymentId: string,
  { reason, amount }: { readonly reason: string; readonly amount?: string },
): Promise<void> {
  requireReason(reason);
  const amountMinor = amount === undefined ? undefined : minorOf('--amount', amount);
  if (amountMinor === 0n) throw new Error('--amount is 0. Use 1 or more.');
  const order = { reason, ...defined({ amountMinor }) };
  const { terms, isRepeat } = await withFoundation(async (foundation) => {
    const { banks } = buildService(foundation);
    try {
      return await orderRefund(foundation, banks, { invoiceId, paymentId }, order);
    } finally {
      await banks.stop();
    }
  });
  const { id, waitsUntil } = terms;
  const what = `Refund ${id} of ${invoiceId}/${paymentId}, ${terms.amount.minor} ${terms.amount.currency}`;
  if (isRepeat) return console.log(`${what}, was started before with this reason. It was not repeated.`);
  console.log(
    waitsUntil === undefined
      ? `${what}, has started. A running node sends it within a second.`
      : `${what}, waits for money of the shop, until ${waitsUntil.slice(0, 19)}Z.`,
  );
}

async function orderRefund(
  { database: db, ports, config }: Foundation,
  banks: Pick<Banks, 'bankNamed' | 'takes'>,
  name: { readonly invoiceId: string; readonly paymentId: string },
  order: Order,
): Promise<{ readonly terms: RefundTerms; readonly isRepeat: boolean }> {
  const merchants = openMerchants(db.lookups, ports.clock, livemodeOf(config.mode));
  for (let attempt = 0; attempt < tries; attempt++) {
    const stored = await loadDatedPayment(db, name);
    const id = `${name.invoiceId}/${name.paymentId}`;
    if (!stored)
      throw new Error(`Payment ${id} not found. List payments with "mandate payments list --since 30d".`);
    const earlier = (await readPaymentFacts(db, stored.payment)).flatMap(({ fact }) =>
      fact.type === 'refund_started' && fact.byOperator && fact.refund.reason === order.reason
        ? [fact.refund]
        : [],
    )[0];
    if (earlier && (order.amountMinor ?? earlier.amount.minor) !== earlier.amount.minor)
      throw new Error(
        `Refund ${earlier.id} has this reason and another amount, ${earlier.amount.minor}. Give another --reason.`,
      );
    if (earlier) return { terms: earlier, isRepeat: true };
    const shop = await merchants.shop(stored.payment.partyId, stored.payment.shopId);
    if (!shop) throw new Error(`Shop ${stored.payment.shopId} of payment ${id} not found.`);
    // This process has heard no bank yet.
    await (await banks.bankNamed(stored.payment.terminal.bankId))?.abilities();
    const command = { ...order, byOperator: true } as const;
    const started = await startRefund({ db, banks }, stored, command, shop, ports.clock.now(), null);
    if (started === 'versionConflict') continue;
    if (started.ok) return { terms: started.value, isRepeat: false };
    const { refusal } = started;
    const advice =
      refusal.code === 'insufficentAccountBalance'
        ? ' Book money that came in for the shop: mandate shop top-up.'
        : '';
    throw new Error(`${refusalText(refusal)}${advice} Nothing was refunded.`);
  }
  throw new Error('The payment was changed meanwhile. Check it and run the command again.');
}
