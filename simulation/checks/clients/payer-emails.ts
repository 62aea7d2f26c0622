// Emails to payers: in the end every recurring charge has a receipt at its payer's address, and no payment that took no money has one.
// An email about a subscription has a row, and goes where it says.
import type { Problem, Seen } from '../check.ts';
import type { PayerEmailRow } from '../rows.ts';
import type { Mail } from '../world.ts';

const messageIdOf = ({ about, invoice_id: id, payment_id: emailId }: PayerEmailRow) =>
  `${about}.${id}.${emailId}`;

export function payerEmails({ books, isSettled }: Seen, mails: readonly Mail[]): Problem[] {
  const took = new Set(
    books.payments
      .filter(({ captured_minor: captured }) => captured !== null)
      .map((one) => `${one.invoice_id}.${one.payment_id}`),
  );
  for (const { customer_id: customerId, binding_id: bindingId } of books.consentLinks)
    if (customerId !== null) took.add(`${customerId}.${bindingId}`);
  const ofSubscriptions = new Set(
    books.payerEmails.filter(({ about }) => about === 'subscription').map(messageIdOf),
  );
  return [
    ...books.payerEmails.flatMap((email): Problem[] => {
      const own = mails.filter(({ id }) => id === messageIdOf(email));
      const about = `payer email ${messageIdOf(email)}`;
      if (own.some(({ to }) => to !== email.recipient)) return [[about, 'it went to another address']];
      // Each attempt has its own links to a subscription.
      if (email.about === 'receipt' && new Set(own.map(({ text }) => text)).size > 1)
        return [[about, 'it was sent in two versions']];
      return email.status === 'sent' && own.length === 0
        ? [[about, 'it counts as sent, and the mail server does not have it']]
        : [];
    }),
    ...mails.flatMap(({ id }): Problem[] =>
      ofSubscriptions.has(id) || [...took].some((name) => id.endsWith(name))
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
