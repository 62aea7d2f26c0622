// What searches look for in payments and refunds, as columns of a query. The names are those of search_payment and search_refund.
import { publicStatus, type PaymentStateName, type PublicStatus } from '../domain/payment.ts';

/** Only the public status changes what a payment counts as. */
export const publicStatusOf = (column: string) =>
  `case ${[...new Set(Object.values(publicStatus))]
    .map((shown) => `when ${column} in (${namesOf(shown)}) then '${shown}'`)
    .join(' ')} end`;

function namesOf(shown: PublicStatus): string {
  const names = (Object.keys(publicStatus) as PaymentStateName[]).filter(
    (name) => publicStatus[name] === shown,
  );
  return names.map((name) => `'${name}'`).join(', ');
}

const approval = 'payment.approval';
const payer = 'payment.payer';

/** A recurring payment has the card of its parent. */
const card = `coalesce(${payer}->'card', parent.card)`;

/** By the names of their columns. */
export const searchedOfPayment = {
  party_id: 'payment.party_id',
  shop_id: 'payment.shop_id',
  invoice_id: 'payment.invoice_id',
  payment_id: 'payment.payment_id',
  created_at: 'payment.created_at',
  invoice_created_at: `(select created_at from invoice where invoice_id = payment.invoice_id)`,
  status: 'payment.status',
  flow: `payment.flow->>'type'`,
  // The public amount.
  amount_minor: `case when payment.status in (${namesOf('captured')}, ${namesOf('refunded')})
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
  currency: 'payment.currency',
  // 0: the payer is present. 1: the first charge of a period, and so on.
  attempt: `case when ${payer}->>'seriesId' is null then 0 else 1 + coalesce(tried.retries, 0) end`,
  decline_class: failed(`payment.state->>'declineClass'`),
  failure: failed(
    `(select string_agg(code, ':') from json_array_elements_text(payment.state->'failure') as code)`,
  ),
  bank_code: failed(`payment.state->'bank'->>'code'`),
} as const;

function failed(value: string): string {
  return `case when payment.status = 'failed' then ${value} end`;
}

/**
 * `offset 0` keeps each look-up apart: without statistics of a new table, PostgreSQL would rather read all of it. As jsonb, terms and
 * state are parsed once instead of once for each column.
 */
export const paymentsToSearch = (invoiceId: string) => `
  lateral (
    select *, parsed_terms->'payer' as payer, parsed_terms->'flow' as flow, state::jsonb->'approval' as approval
    from (select *, terms::jsonb as parsed_terms from payment where invoice_id = ${invoiceId} offset 0) as payment offset 0
  ) as payment
  left join lateral (
    select terms::jsonb->'payer'->'card' as card from payment as parent
    where parent.invoice_id = ${payer}->'parent'->>'invoiceId' and parent.payment_id = ${payer}->'parent'->>'paymentId'
    offset 0
  ) as parent on true
  left join lateral (
    select case when is_retry then (
      select count(*)::int4 from series_attempt as earlier
      where earlier.series_id = attempt.series_id and earlier.is_retry and earlier.created_at <= attempt.created_at
        and earlier.created_at > coalesce((
          select max(first.created_at) from series_attempt as first
          where first.series_id = attempt.series_id and not first.is_retry and first.created_at <= attempt.created_at
        ), '-infinity')
    ) end as retries
    from series_attempt as attempt
    where series_id = ${payer}->>'seriesId' and attempt.invoice_id = payment.invoice_id
      and attempt.payment_id = payment.payment_id
    offset 0
  ) as tried on true`;

/** By the names of their columns. */
export const searchedOfRetry = {
  party_id: 'payment.party_id',
  shop_id: 'payment.shop_id',
  invoice_id: 'payment.invoice_id',
  payment_id: 'payment.payment_id',
  created_at: 'payment.created_at',
  outcome: 'attempt.outcome',
  payment_system: `coalesce(${payer}->'card'->>'paymentSystem', '')`,
  decline_class: `retry->>'declineClass'`,
  bank_code: `coalesce(before.bank_code, '')`,
  number: `(retry->>'number')::int`,
  days: `(retry->>'days')::int`,
  local_hour: `(retry->>'localHour')::int`,
  policy: `concat(retry->>'policy', ' ', retry->>'policyVersion')`,
} as const;

/** With what the bank said of the failure before. */
export const retriesToSearch = (invoiceId: string) => `
  lateral (
    select *, payer->'retry' as retry from (
      select *, terms::jsonb->'payer' as payer from payment
      where invoice_id = ${invoiceId} and strpos(terms::text, '"retry"') > 0 offset 0
    ) as payment where payer->'retry' is not null
  ) as payment
  join lateral (
    select outcome from series_attempt
    where series_id = ${payer}->>'seriesId' and invoice_id = payment.invoice_id and payment_id = payment.payment_id
    offset 0
  ) as attempt on true
  left join lateral (
    select state::jsonb->'bank'->>'code' as bank_code from payment as earlier
    where earlier.invoice_id = payment.invoice_id and earlier.status = 'failed' and earlier.created_at < payment.created_at
    order by earlier.created_at desc limit 1
  ) as before on true`;

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
  amount_minor: 'refund.amount_minor',
  currency: 'refund.currency',
} as const;

export const refundsToSearch = (invoiceId: string) => `
  lateral (select * from refund where invoice_id = ${invoiceId} offset 0) as refund
  cross join lateral (
    select shop_id from payment
    where payment.invoice_id = refund.invoice_id and payment.payment_id = refund.payment_id
    offset 0
  ) as payment`;
