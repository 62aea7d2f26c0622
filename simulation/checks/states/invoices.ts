// An invoice and its payments, by their rows: it is paid by one payment and by no second, and knows whether one is under way.
import { groupedBy } from '../books.ts';
import type { Check, Problem } from '../check.ts';

const takes = ['captured', 'refunding', 'refunded'];
const ended = [...takes, 'cancelled', 'failed'];

export const invoices: Check = {
  name: 'invoices',
  says: 'an invoice is paid by exactly one payment, and has one under way at most, which it knows of',
  find({ books }) {
    const payments = groupedBy(books.payments, ({ invoice_id: id }) => id);
    return books.invoices.flatMap((invoice): Problem[] => {
      const about = `invoice ${invoice.invoice_id}`;
      const own = payments.get(invoice.invoice_id) ?? [];
      const taken = own.filter(({ status }) => takes.includes(status)).length;
      const open = own.filter(({ status }) => !ended.includes(status)).length;
      const isPaid = invoice.status === 'paid' || invoice.status === 'fulfilled';
      const problems = [
        taken + open > 1 && `${taken + open} of its payments have or may take its money`,
        isPaid !== (taken === 1) && `it is ${invoice.status} with ${taken} payments taken`,
        invoice.payment_in_progress !== (open === 1) &&
          `${open} of its payments are under way, and it does not know`,
        invoice.payments_made !== own.length &&
          `it counts ${invoice.payments_made} payments of ${own.length}`,
      ];
      return problems.filter((problem) => problem !== false).map((problem) => [about, problem]);
    });
  },
};
