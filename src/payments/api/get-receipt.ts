// GET …/receipt: the receipt of a recurring payment, of the payment that started the series, or of a one-off payment that was emailed one.
import { Type } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { DateTime } from '../../platform/http/schemas.ts';
import { emailKeyOf } from '../../receipts/domain/receipt-email.ts';
import type { PayerEmail } from '../../emails/domain/payer-email.ts';
import { receiptIn } from '../../receipts/store/codec.ts';
import { receiptLanguages } from '../../receipts/domain/receipt.ts';
import { seriesIdOf } from '../../recurring/domain/series.ts';
import { accept, refuse } from '../../refusal.ts';
import { isTaken } from '../domain/payment.ts';
import { paidOf } from '../domain/series-effects.ts';
import { findPayment } from '../store/payments.ts';
import { PaymentPath } from './schema.ts';
import { defined } from '../../defined.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Receipts } from '../../receipts/receipts.ts';
import { findPayerEmail } from '../../emails/store/payer-emails.ts';
import type { Consents } from '../../recurring/port.ts';

type Deps = {
  readonly db: Database;
  readonly consents: Pick<Consents, 'receiptSource'>;
  readonly receipts: Receipts;
};

const Receipt = Type.Object(
  {
    language: Type.Enum(receiptLanguages),
    subject: Type.String(),
    text: Type.String(),
    html: Type.String(),
    mail: Type.Optional(
      Type.Object(
        {
          to: Type.String(),
          status: Type.Enum(['waiting', 'kept', 'sent', 'refused']),
          endedAt: Type.Optional(DateTime),
        },
        {
          title: 'ReceiptMail',
          description:
            '`kept`: no mail server is configured. `refused`: the address does not exist. Absent if no email was written.',
        },
      ),
    ),
  },
  { title: 'Receipt' },
);

export const getReceipt = endpoint({
  operation: 'getReceipt',
  // The receipt has a link that ends the consent, so reading it needs the right to end it.
  access: { scope: 'payments:write', maskedAs: 'invoiceNotFound' },
  method: 'GET',
  path: '/v2/processing/invoices/{invoiceID}/payments/{paymentID}/receipt',
  tag: 'Recurring',
  summary: "Get the payer's receipt of a recurring payment",
  description:
    'With what card networks require, and a link that ends the charges and needs no key. Only for captured payments. ' +
    'A one-off payment has one if it was emailed.',
  params: PaymentPath,
  query: Type.Object({
    language: Type.Optional(
      Type.Enum(receiptLanguages, {
        description: 'The default is the language of the consent, then that of the shop.',
      }),
    ),
  }),
  status: 200,
  response: Receipt,
  errors: ['invoiceNotFound', 'paymentNotFound', 'recurringNotFound'],
  handle: async ({ caller, params, query }, { db, consents, receipts }: Deps) => {
    const name = { invoiceId: params.invoiceID, paymentId: params.paymentID };
    const found = await findPayment(db, { partyId: caller.partyId, ...name });
    if (!found.ok) return found;
    const stored = found.value;
    const { payer, state, makeRecurrent } = stored.payment;
    if (!isTaken(state)) return refuse('recurringNotFound');

    const paid = paidOf(stored.payment, state.amount, state.approval);
    const payerEmail = await findPayerEmail(db, emailKeyOf(name));
    const isOneOff = payer.type === 'resource' && !makeRecurrent;
    const seriesId = 'seriesId' in payer ? payer.seriesId : seriesIdOf(name);
    // A one-off payment has a receipt only if its shop wished one when it was paid.
    const source = isOneOff
      ? payerEmail && receiptIn(payerEmail)
      : await consents.receiptSource(db, seriesId, paid);
    const receipt = source && (await receipts.write(source, paid, query.language));
    if (!receipt) return refuse('recurringNotFound');
    return accept({ ...receipt, ...(payerEmail ? { mail: mailBody(payerEmail) } : {}) });
  },
});

function mailBody({ recipient: to, status, endedAt }: PayerEmail) {
  return { to, status, ...defined({ endedAt }) };
}
