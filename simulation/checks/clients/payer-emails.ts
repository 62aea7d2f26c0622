// Receipts by email: in the end every recurring charge has one at its payer's address.
// No payment that took no money has one.
import type { Problem, Seen } from '../check.ts';
import type { Mail } from '../world.ts';

const isOf = ({ id }: Mail, invoiceId: string, paymentId: string) => id.endsWith(`${invoiceId}.${paymentId}`);

export function payerEmails({ books, isSettled }: Seen, mails: readonly Mail[]): Problem[] {
  const took = new Set(
    books.payments
      .filter(({ captured_minor: captured }) => captured !== null)
      .map((one) => `${one.invoice_id}.${one.payment_id}`),
  );
  for (const { customer_id: customerId, binding_id: bindingId } of books.consentLinks)
    if (customerId !== null) took.add(`${customerId}.${bindingId}`);
  return [
    ...books.payerEmails.flatMap((email): Problem[] => {
      const { invoice_id: invoiceId, payment_id: paymentId, status, recipient } = email;
      const about = `payer email ${invoiceId}.${paymentId}`;
      const own = mails.filter((mail) => isOf(mail, invoiceId, paymentId));
      if (own.some(({ to }) => to !== recipient)) return [[about, 'it went to another address']];
      if (new Set(own.map(({ text }) => text)).size > 1) return [[about, 'it was sent in two versions']];
      return status === 'sent' && own.length === 0
        ? [[about, 'it counts as sent, and the mail server does not have it']]
        : [];
    }),
    ...mails.flatMap(({ id }): Problem[] =>
      [...took].some((name) => id.endsWith(name))
        ? []
        : [[`payer email ${id}`, 'it is of a payment that took no money']],
    ),
    ...(isSettled ? withoutReceipt({ books }) : []),
  ];
}

/** Captured charges of a series that have no payer email. */
function withoutReceipt({ books }: Pick<Seen, 'books'>): Problem[] {
  const named = new Set(books.payerEmails.map((one) => `${one.invoice_id}.${one.payment_id}`));
  return books.attempts.flatMap(({ invoice_id: invoiceId, payment_id: paymentId }): Problem[] => {
    const name = `${invoiceId}.${paymentId}`;
    const payment = books.payments.find((one) => `${one.invoice_id}.${one.payment_id}` === name);
    return !payment || payment.captured_minor === null || named.has(name)
      ? []
      : [[`payment ${name}`, 'its payer has no receipt']];
  });
}
