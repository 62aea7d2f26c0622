// GET …/receipt: what the payer gets after each recurring payment and after the one that began them.
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
import type { Recurring } from '../../recurring/port.ts';

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
            'Whether the payer has it by mail: `waiting` to be sent, `kept` because there is no mail server, `sent`, or `refused` ' +
            'because nobody has that address. Absent when he gave no address.',
        },
      ),
    ),
  },
  { title: 'Receipt' },
);

export const getReceipt = endpoint({
  operation: 'getReceipt',
  // The link in it ends the consent: whoever may read it may as well call the operation below.
  access: { scope: 'payments:write', maskedAs: 'invoiceNotFound' },
  method: 'GET',
  path: '/v2/processing/invoices/{invoiceID}/payments/{paymentID}/receipt',
  tag: 'Recurring',
  summary: "Get the payer's receipt of a recurring payment",
  description:
    'As text and as a page, with the marker, the schedule and the lifetime that the rules of recurring payments demand, and ' +
    'with a link by which the payer ends them. Whoever has it may do so, so that a key needs the scope `payments:write` to read ' +
    'it. For captured payments alone.',
  params: PaymentPath,
  query: Type.Object({
    language: Type.Optional(
      Type.Enum(receiptLanguages, {
        description: 'By default that in which the payer agreed, else the shop’s.',
      }),
    ),
  }),
  status: 200,
  response: Receipt,
  errors: ['invoiceNotFound', 'paymentNotFound', 'recurringNotFound'],
  handle: async ({ caller, params, query }, { db, recurring }: { db: Database; recurring: Recurring }) => {
    const name = { invoiceId: params.invoiceID, paymentId: params.paymentID };
    const found = await findPayment(db, { partyId: caller.partyId, ...name });
    if (!found.ok) return found;
    const stored = found.value;
    const { payer, state, makeRecurrent } = stored.payment;
    if (!isTaken(state) || (payer.type === 'resource' && !makeRecurrent)) return refuse('recurringNotFound');

    const seriesId = 'seriesId' in payer ? payer.seriesId : seriesIdOf(name);
    const paid = paidOf(stored.payment, state.amount, state.approval);
    const receipt = await recurring.receipt(db, seriesId, paid, query.language);
    if (!receipt) return refuse('recurringNotFound');
    const payerEmail = await recurring.payerEmail(db, name);
    return accept({ ...receipt, ...(payerEmail ? { mail: mailBody(payerEmail) } : {}) });
  },
});

function mailBody({ recipient: to, status, endedAt }: PayerEmail) {
  return { to, status, ...defined({ endedAt }) };
}
