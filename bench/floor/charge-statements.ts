// The least a charge has to write, as SQL. The floor and pgbench run these statements.
export const party = 'SANDBOX';
export const bankId = 'OUTSIDE';
export const uncleared = `test:RUB:acq.uncleared:${bankId}`;
export const settlement = `test:RUB:merchant.settlement:${party}:TEST`;

export const insertInvoice = `
  with made as (
    insert into invoice (invoice_id, party_id, shop_id, version, status, created_at, due_date, amount_minor, currency,
      product, metadata, wake_at)
    values ($1, '${party}', 'TEST', 1, 'unpaid', now(), now() + interval '1 day', $2, 'RUB', $3, '{}', now() + interval '1 day'))
  insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
  values ($1, 1, 'invoice', '${party}', now(), $4)`;

export const insertCard = `
  with made as (
    insert into card (card_id, party_id, session_id, stored_at, valid_until, payment_system, mask, client_info, ciphertext,
      key_version, fingerprint, fingerprint_key_version, match_hash)
    values ($1, '${party}', $1, now(), now() + interval '1 hour', 'visa', '424242******4242', $2, $3, 1, $4, 1, $4))
  insert into security_code (session_id, card_id, half_hour, ciphertext, expires_at)
  values ($1, $1, 1, $3, now() + interval '15 minutes')`;

const paymentParts = `
  with changed as (
    update invoice set version = version + 1, payments_made = 1, payment_in_progress = true, wake_at = null
    where invoice_id = $1
  ), made as (
    insert into payment (invoice_id, payment_id, party_id, shop_id, version, status, created_at, amount_minor, currency,
      refunded_minor, terms, state, wake_at, attempts)
    values ($1, '1', '${party}', 'TEST', 1, 'authorising', now(), $2, 'RUB', 0, $3, '{}', now() + interval '1 minute', 1))`;
const paymentEvent = `
  insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
  values ($1, 2, 'invoice', '${party}', now(), $4)`;

export const insertPayment = `${paymentParts}, retained as (
    update card set is_retained = true where card_id = $5
  )${paymentEvent}`;

/** A recurring charge writes its attempt, its series and the series' event as well. */
export const insertCharge = `${paymentParts}, attempted as (
    insert into series_attempt (series_id, invoice_id, payment_id, created_at, amount_minor, currency, is_retry, packs, outcome)
    values ($5, $1, '1', now(), $2, 'RUB', false, 'house@2026-11-23 visa@2026-10-25.2 advice@2025-01-01.2', 'pending')
  ), changed_series as (
    update series set version = version + 1, chain = $6, state = $7 where series_id = $5 returning version
  ), noted as (
    insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
    select $5, version, 'series', '${party}', now(), $8 from changed_series
  )${paymentEvent}`;

export const insertSeries = `
  with made as (
    insert into series (series_id, party_id, shop_id, version, status, card_key, card_token, chain, terms, state, wake_at)
    values ($1, '${party}', 'TEST', 1, 'active', $2, $3, $4, $5, $6, now() + interval '5 months')
  )
  insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
  values ($1, 1, 'series', '${party}', now(), $5)`;

export const takeCode = 'delete from security_code where session_id = $1';

const captureParts = `
  with paid as (
    update payment set version = 2, status = 'captured', captured_minor = amount_minor, state = $2, wake_at = null, attempts = 0
    where invoice_id = $1 and payment_id = '1'
  ), changed as (
    update invoice set version = 4, status = 'paid', payment_in_progress = false where invoice_id = $1
  ), moved as (
    insert into ledger_transfer (aggregate_id, operation_id, step, phase, completes_pending, debit_account, debit_shard,
      credit_account, credit_shard, posted_minor, pending_minor, happened_at)
    values ($1, 'payment/1', 'sale', 'single', false, '${uncleared}', $3,
      '${settlement}', $4, $5, 0, now())
  ), debited as (
    update ledger_balance set debits_posted = debits_posted + $5
    where account_id = '${uncleared}' and shard = $3
  ), credited as (
    update ledger_balance set credits_posted = credits_posted + $5
    where account_id = '${settlement}' and shard = $4
  )`;
const captureEvents = `
  insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
  values ($1, 3, 'invoice', '${party}', now(), $6), ($1, 4, 'invoice', '${party}', now(), $7)`;

export const capture = `${captureParts}${captureEvents}`;

export const captureCharge = `${captureParts}, attempted as (
    update series_attempt set outcome = 'approved', ended_at = now()
    where series_id = $8 and invoice_id = $1 and payment_id = '1'
  ), changed_series as (
    update series set version = version + 1, chain = $9, state = $10, wake_at = now() + interval '5 months'
    where series_id = $8 returning version
  ), noted as (
    insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
    select $8, version, 'series', '${party}', now(), $11 from changed_series
  ), receipt as (
    insert into payer_email (invoice_id, payment_id, party_id, series_id, status, created_at, recipient, paid_at, amount_minor,
      currency, reference, wake_at)
    values ($1, '1', '${party}', $8, 'waiting', now(), 'payer@example.com', now(), $5, 'RUB', $12, now())
  )${captureEvents}`;

/** A sandbox keeps the payer's receipt instead of sending it. */
export const keepReceipt = `
  update payer_email set status = 'kept', ended_at = now(), subject = $2, text_body = $3, html_body = $4, wake_at = null
  where invoice_id = $1 and payment_id = '1' and status = 'waiting'`;

export const readPayment = `select status, terms from payment where invoice_id = $1 and payment_id = '1'`;
