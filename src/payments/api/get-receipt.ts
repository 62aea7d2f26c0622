// GET …/receipt: the receipt of a recurring payment, or of the payment that started the series.
import { Type } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { DateTime } from '../../platform/http/schemas.ts';
import type { PayerEmail } from '../../receipts/domain/payer-email.ts';
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
import { findPayerEmail } from '../../receipts/store/payer-emails.ts';
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
            'Delivery by email: `waiting` to be sent, `kept` because no mail server is configured, `sent`, or `refused` because the ' +
            'address does not exist. Absent if the payer gave no address.',
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
    'As text and as HTML, with the marker, schedule and lifetime that card networks require, and a link with which the ' +
    'payer ends the charges. The link needs no key, so the scope `payments:write` is required. Only for captured payments.',
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
    if (!isTaken(state) || (payer.type === 'resource' && !makeRecurrent)) return refuse('recurringNotFound');

    const seriesId = 'seriesId' in payer ? payer.seriesId : seriesIdOf(name);
    const paid = paidOf(stored.payment, state.amount, state.approval);
    const source = await consents.receiptSource(db, seriesId, paid);
    const receipt = source && (await receipts.write(source, paid, query.language));
    if (!receipt) return refuse('recurringNotFound');
    const payerEmail = await findPayerEmail(db, name);
    return accept({ ...receipt, ...(payerEmail ? { mail: mailBody(payerEmail) } : {}) });
  },
});

function mailBody({ recipient: to, status, endedAt }: PayerEmail) {
  return { to, status, ...defined({ endedAt }) };
}
