// GET …/receipt: what the payer gets after each recurring payment and after the one that began them.
import { Type } from 'typebox';
import { endpoint } from '../http/endpoint.ts';
import { receiptLanguages, receiptOf } from '../recurring/receipt.ts';
import { seriesIdOf } from '../recurring/series.ts';
import { accept, refuse } from '../refusal.ts';
import { findPayments } from './payment.store.ts';
import { PaymentPath } from './payment.wire.ts';

const Receipt = Type.Object(
  { language: Type.Enum(receiptLanguages), subject: Type.String(), text: Type.String(), html: Type.String() },
  { title: 'Receipt' },
);

export const getReceipt = endpoint({
  operation: 'getReceipt',
  method: 'GET',
  path: '/v2/processing/invoices/{invoiceID}/payments/{paymentID}/receipt',
  tag: 'Recurring',
  summary: "Get the payer's receipt of a recurring payment",
  description:
    'As text and as a page, with the marker, the schedule and the lifetime that the rules of recurring payments demand, and ' +
    'with a link by which the payer ends them. For captured payments alone.',
  params: PaymentPath,
  query: Type.Object({ language: Type.Optional(Type.Enum(receiptLanguages, { default: 'en' })) }),
  status: 200,
  answer: Receipt,
  refusals: ['invoiceNotFound', 'paymentNotFound', 'recurringNotFound'],
  handle: async ({ caller, params, query, now }, { db, merchants, recurring }) => {
    const { language = 'en' } = query;
    const name = { invoiceId: params.invoiceID, paymentId: params.paymentID };
    const found = await findPayments(db, { partyId: caller.partyId, ...name });
    if (!found) return refuse('invoiceNotFound');
    const [stored] = found;
    if (!stored) return refuse('paymentNotFound');
    const { payer, state, makeRecurrent, shopId, createdAt } = stored.payment;
    const isTaken = state.name === 'captured' || state.name === 'refunding' || state.name === 'refunded';
    if (!isTaken || (payer.type === 'resource' && !makeRecurrent)) return refuse('recurringNotFound');

    const seriesId = 'seriesId' in payer ? payer.seriesId : seriesIdOf(name);
    const admission = await recurring.ask(db, seriesId, { invoiceCreatedAt: 'then' }, now);
    const shop = await merchants.shop(caller.partyId, shopId);
    if (!admission || !shop) return refuse('recurringNotFound');
    const { contact } = await recurring.settings(db, { partyId: caller.partyId, shopId });
    const { mandate, card } = admission.series;
    const { reference, approvalCode } = state.approval;
    const receipt = receiptOf({
      language,
      merchant: { name: shop.name, site: shop.url, ...(contact === undefined ? {} : { contact }) },
      amount: state.amount,
      at: createdAt,
      mandate,
      card,
      ...name,
      reference,
      ...(approvalCode === undefined ? {} : { approvalCode }),
      cancelUrl: await recurring.withdrawUrlOf(seriesId),
    });
    return accept({ language, ...receipt });
  },
});
