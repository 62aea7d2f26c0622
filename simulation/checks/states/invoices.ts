// An invoice is paid by one payment at most, and its row says whether one is in progress.
import { groupedBy } from '../rows.ts';
import type { Check, Problem } from '../check.ts';

const takes = ['captured', 'refunding', 'refunded'];
const ended = [...takes, 'cancelled', 'failed'];

export const invoices: Check = {
  name: 'invoices',
  says: 'an invoice is paid by exactly one payment, has at most one in progress, and says so',
  find({ books }) {
    const payments = groupedBy(books.payments, ({ invoice_id: id }) => id);
    return books.invoices.flatMap((invoice): Problem[] => {
      const about = `invoice ${invoice.invoice_id}`;
      const own = payments.get(invoice.invoice_id) ?? [];
      // The bank may fail to pay what it had captured. The invoice stays paid.
      const taken = own.filter(
        ({ status, uncaptured_minor: lost }) => takes.includes(status) || lost !== null,
      ).length;
      const open = own.filter(({ status }) => !ended.includes(status)).length;
      const isPaid = invoice.status === 'paid' || invoice.status === 'fulfilled';
      const problems = [
        taken + open > 1 && `${taken + open} of its payments have or may take its money`,
        isPaid !== (taken === 1) && `it is ${invoice.status} with ${taken} payments taken`,
        invoice.payment_in_progress !== (open === 1) &&
          `${open} of its payments are in progress, and its row says otherwise`,
        invoice.payments_made !== own.length &&
          `it counts ${invoice.payments_made} payments of ${own.length}`,
      ];
      return problems.filter((problem) => problem !== false).map((problem) => [about, problem]);
    });
  },
};
