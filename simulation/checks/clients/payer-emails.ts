// Receipts by mail: whoever was charged has one in the end, at the address he gave, of that payment; and nobody has one of a payment
// that took no money.
import type { Problem, Seen } from '../check.ts';
import type { Mail } from '../world.ts';

const isOf = ({ id }: Mail, invoiceId: string, paymentId: string) => id.endsWith(`${invoiceId}.${paymentId}`);

export function letters({ books, isSettled }: Seen, mails: readonly Mail[]): Problem[] {
  const took = new Set(
    books.payments
      .filter(({ captured_minor: captured }) => captured !== null)
      .map((one) => `${one.invoice_id}.${one.payment_id}`),
  );
  return [
    ...books.letters.flatMap((letter): Problem[] => {
      const { invoice_id: invoiceId, payment_id: paymentId, status, recipient } = letter;
      const about = `letter ${invoiceId}.${paymentId}`;
      const own = mails.filter((mail) => isOf(mail, invoiceId, paymentId));
      if (own.some(({ to }) => to !== recipient)) return [[about, 'it went to somebody else']];
      if (new Set(own.map(({ text }) => text)).size > 1) return [[about, 'it was sent in two versions']];
      return status === 'sent' && own.length === 0 ? [[about, 'it counts as sent, and nobody has it']] : [];
    }),
    ...mails.flatMap(({ id }): Problem[] =>
      [...took].some((name) => id.endsWith(name))
        ? []
        : [[`letter ${id}`, 'it is of a payment that took no money']],
    ),
    ...(isSettled ? withoutLetter({ books }) : []),
  ];
}

/** Charges of a series that were captured, of which no letter tells. */
function withoutLetter({ books }: Pick<Seen, 'books'>): Problem[] {
  const told = new Set(books.letters.map((one) => `${one.invoice_id}.${one.payment_id}`));
  return books.attempts.flatMap(({ invoice_id: invoiceId, payment_id: paymentId }): Problem[] => {
    const name = `${invoiceId}.${paymentId}`;
    const payment = books.payments.find((one) => `${one.invoice_id}.${one.payment_id}` === name);
    return !payment || payment.captured_minor === null || told.has(name)
      ? []
      : [[`payment ${name}`, 'its payer has no receipt']];
  });
}
