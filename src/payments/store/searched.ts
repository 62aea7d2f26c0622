// What searches look for in payments and refunds, as columns of a query. The names are those of search_payment and search_refund.
import { publicStatus, type PaymentStateName } from '../domain/payment.ts';

/** In these the public amount is the captured one. */
const taken = (Object.keys(publicStatus) as PaymentStateName[]).filter((name) =>
  ['captured', 'refunded'].includes(publicStatus[name]),
);

const approval = `payment.state->'approval'`;
const payer = `payment.terms->'payer'`;

/** A recurring payment has the card of its parent. */
const card = `coalesce(${payer}->'card', parent.terms->'payer'->'card')`;

/** By the names of their columns. */
export const searchedOfPayment = {
  party_id: 'payment.party_id',
  shop_id: 'payment.shop_id',
  invoice_id: 'payment.invoice_id',
  payment_id: 'payment.payment_id',
  created_at: 'payment.created_at',
  status: 'payment.status',
  flow: `payment.terms->'flow'->>'type'`,
  amount_minor: `case when payment.status in (${taken.map((name) => `'${name}'`).join(', ')})
    then payment.captured_minor else payment.amount_minor end`,
  external_id: 'payment.external_id',
  customer_id: `coalesce(${payer}->>'customerId', ${payer}->'savedBy'->>'customerId')`,
  email: `lower(${payer}->'contactInfo'->>'email')`,
  ip: `${payer}->'clientInfo'->>'ip'`,
  fingerprint: `${payer}->'clientInfo'->>'fingerprint'`,
  first6: `${card}->>'bin'`,
  last4: `${card}->>'lastDigits'`,
  payment_system: `${card}->>'paymentSystem'`,
  // As referencesOf has it.
  rrn: `case when ${approval}->'references' is null then ${approval}->>'reference'
    else ${approval}->'references'->>'rrn' end`,
  approval_code: `${approval}->>'approvalCode'`,
} as const;

/** `offset 0` keeps each look-up apart: without statistics of a new table, PostgreSQL would rather read all of it. */
export const paymentsToSearch = (invoiceId: string) => `
  lateral (select * from payment where invoice_id = ${invoiceId} offset 0) as payment
  left join lateral (
    select terms from payment as parent
    where parent.invoice_id = ${payer}->'parent'->>'invoiceId' and parent.payment_id = ${payer}->'parent'->>'paymentId'
    offset 0
  ) as parent on true`;

/** By the names of their columns. */
export const searchedOfRefund = {
  party_id: 'refund.party_id',
  shop_id: 'payment.shop_id',
  invoice_id: 'refund.invoice_id',
  payment_id: 'refund.payment_id',
  refund_id: 'refund.refund_id',
  created_at: 'refund.created_at',
  status: 'refund.status',
  external_id: 'refund.external_id',
  rrn: 'refund.rrn',
} as const;

export const refundsToSearch = (invoiceId: string) => `
  lateral (select * from refund where invoice_id = ${invoiceId} offset 0) as refund
  cross join lateral (
    select shop_id from payment
    where payment.invoice_id = refund.invoice_id and payment.payment_id = refund.payment_id
    offset 0
  ) as payment`;
