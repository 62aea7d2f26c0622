// What the email with a receipt says, from its row in the outbox.
import type { EmailAuthor } from '../emails/port.ts';
import type { Paid, ReceiptSource } from './domain/receipt-email.ts';
import type { Receipts } from './receipts.ts';
import { receiptIn } from './store/codec.ts';

export function receiptAuthor({
  receipts,
  sourceOf,
}: {
  readonly receipts: Pick<Receipts, 'write'>;
  /** For an email without content, which an older node has stored. */
  readonly sourceOf: (seriesId: string, paid: Paid) => Promise<ReceiptSource | undefined>;
}): EmailAuthor {
  return {
    async write(email) {
      const { aggregateId: invoiceId, emailId: paymentId, seriesId } = email;
      if (!email.paid) throw new Error('A receipt is of a payment.');
      const paid = { invoiceId, paymentId, ...email.paid };
      const source =
        receiptIn(email) ?? (seriesId === undefined ? undefined : await sourceOf(seriesId, paid));
      const receipt = source && (await receipts.write(source, paid));
      if (!receipt) throw new Error('The series or the shop was not found: the receipt cannot be sent.');
      return receipt;
    },
  };
}
