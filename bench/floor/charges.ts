// The floor of a charge: invoice, card, payment with or without its payer, capture.
import { createHash, randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { randomIds } from '../../src/ids.ts';
import {
  askBank,
  bankId,
  cardDetails,
  contactInfo,
  hash,
  inBackground,
  laneOf,
  openAccount,
  party,
  run,
} from './outside.ts';

const amountMinor = 6_000;
/** As long as what the service writes in its place. */
const sealed = randomBytes(92);
const clientInfo = JSON.stringify({ fingerprint: 'bench', ip: '127.0.0.1' });
const place = {
  terminal: { id: bankId, bankId, merchantId: 'TEST', descriptor: 'Test shop' },
  realm: 'test',
  fees: {},
};
const flow = { type: 'instant' };

function termsOf(token: string, seriesId: string | undefined, makeRecurrent: boolean) {
  const payer = seriesId
    ? {
        type: 'recurrent',
        token,
        seriesId,
        parent: { invoiceId: seriesId.slice(0, -2), paymentId: '1' },
        warnings: [],
        rootNetworkTransactionId: agreement,
        previousNetworkTransactionId: agreement,
        contactInfo,
      }
    : {
        type: 'resource',
        token,
        session: token,
        card: cardDetails,
        clientInfo: { fingerprint: 'bench', ip: '127.0.0.1' },
        contactInfo,
      };
  return { flow, payer, makeRecurrent, deadline: new Date().toISOString(), ...place };
}

const insertInvoice = `
  with made as (
    insert into invoice (invoice_id, party_id, shop_id, version, status, created_at, due_date, amount_minor, currency,
      product, metadata, wake_at)
    values ($1, '${party}', 'TEST', 1, 'unpaid', now(), now() + interval '1 day', $2, 'RUB', $3, '{}', now() + interval '1 day'))
  insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
  values ($1, 1, 'invoice', '${party}', now(), $4)`;

const insertCard = `
  with made as (
    insert into card (card_id, party_id, session_id, stored_at, valid_until, payment_system, mask, client_info, sealed,
      seal_generation, fingerprint, fingerprint_generation, identity_hash)
    values ($1, '${party}', $1, now(), now() + interval '1 hour', 'visa', '424242******4242', $2, $3, 1, $4, 1, $4))
  insert into security_code (session_id, card_id, half_hour, sealed, expires_at)
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

const insertPayment = `${paymentParts}, kept as (
    update card set is_kept = true where card_id = $5
  )${paymentEvent}`;

/** A charge without the payer: beside the payment, the attempt and the series with what happened to it. */
const insertCharge = `${paymentParts}, attempted as (
    insert into series_attempt (series_id, invoice_id, payment_id, created_at, amount_minor, currency, is_retry, packs, outcome)
    values ($5, $1, '1', now(), $2, 'RUB', false, 'house@2026-01-01 visa@2026-10-25 advice@2025-01-01', 'pending')
  ), held as (
    update series set version = version + 1, chain = $6, standing = $7 where series_id = $5 returning version
  ), noted as (
    insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
    select $5, version, 'series', '${party}', now(), $8 from held
  )${paymentEvent}`;

const insertSeries = `
  with made as (
    insert into series (series_id, party_id, shop_id, version, state, card_key, card_token, chain, terms, standing, wake_at)
    values ($1, '${party}', 'TEST', 1, 'active', $2, $3, $4, $5, $6, now() + interval '5 months')
  )
  insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
  values ($1, 1, 'series', '${party}', now(), $5)`;

const takeCode = 'delete from security_code where session_id = $1';

const captureParts = `
  with paid as (
    update payment set version = 2, status = 'captured', captured_minor = amount_minor, state = $2, wake_at = null, attempts = 0
    where invoice_id = $1 and payment_id = '1'
  ), changed as (
    update invoice set version = 4, status = 'paid', payment_in_progress = false where invoice_id = $1
  ), moved as (
    insert into ledger_transfer (aggregate_id, operation_id, step, phase, resolves, debit_account, debit_lane,
      credit_account, credit_lane, posted_minor, pending_minor, happened_at)
    values ($1, 'payment/1', 'sale', 'single', false, 'test:RUB:acq.uncleared:${bankId}', $3,
      'test:RUB:merchant.settlement:${party}:TEST', $4, $5, 0, now())
  ), debited as (
    update ledger_balance set debits_posted = debits_posted + $5
    where account_id = 'test:RUB:acq.uncleared:${bankId}' and lane = $3
  ), credited as (
    update ledger_balance set credits_posted = credits_posted + $5
    where account_id = 'test:RUB:merchant.settlement:${party}:TEST' and lane = $4
  )`;
const captureEvents = `
  insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
  values ($1, 3, 'invoice', '${party}', now(), $6), ($1, 4, 'invoice', '${party}', now(), $7)`;

const capture = `${captureParts}${captureEvents}`;

const captureCharge = `${captureParts}, attempted as (
    update series_attempt set outcome = 'approved', ended_at = now()
    where series_id = $8 and invoice_id = $1 and payment_id = '1'
  ), held as (
    update series set version = version + 1, chain = $9, standing = $10, wake_at = now() + interval '5 months'
    where series_id = $8 returning version
  ), noted as (
    insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
    select $8, version, 'series', '${party}', now(), $11 from held
  )${captureEvents}`;

const readPayment = `select status, terms from payment where invoice_id = $1 and payment_id = '1'`;

const uncleared = `test:RUB:acq.uncleared:${bankId}`;
const settlement = `test:RUB:merchant.settlement:${party}:TEST`;

type Charge = {
  readonly invoiceId: string;
  readonly token: string;
  readonly seriesId?: string;
  readonly makeRecurrent: boolean;
};

async function charge({ invoiceId, token, seriesId, makeRecurrent }: Charge): Promise<void> {
  if (!seriesId) await run('take', takeCode, [token]);
  const { reference, approvalCode, networkTransactionId } = await askBank(
    `${invoiceId}.1.a`,
    messageOf(seriesId !== undefined),
  );
  agreement ??= networkTransactionId;
  const approval = { reference, approvalCode, networkTransactionId };
  const values = [
    invoiceId,
    JSON.stringify({ approval, refundsMade: 0 }),
    laneOf(invoiceId, 16),
    laneOf(invoiceId, 8),
    amountMinor,
    JSON.stringify([{ type: 'payment_processed', approval, paymentId: '1' }]),
    JSON.stringify([
      { type: 'payment_captured', amount: { minor: amountMinor, currency: 'RUB' }, paymentId: '1' },
      { type: 'invoice_paid' },
    ]),
  ];
  if (!seriesId) await run('capture', capture, values);
  else
    await run('capture charge', captureCharge, [
      ...values,
      seriesId,
      ...seriesChange(invoiceId, 'succeeded'),
    ]);
  if (makeRecurrent) {
    const terms = JSON.stringify({ ...termsOf(token, undefined, true), approval });
    await run('series', insertSeries, [`${invoiceId}.1`, hash, token, hash.toString('hex'), terms, standing]);
  }
}

/** Chain, standing and fact. */
function seriesChange(invoiceId: string, what: 'started' | 'succeeded'): string[] {
  const fact = {
    type: `recurring_charge_${what}`,
    invoiceId,
    paymentId: '1',
    createdAt: new Date().toISOString(),
  };
  const more =
    what === 'started' ? { packs: ['house@2026-01-01', 'visa@2026-10-25', 'advice@2025-01-01'] } : {};
  return [
    createHash('sha256').update(invoiceId).digest('hex'),
    standing,
    JSON.stringify([{ ...fact, ...more }]),
  ];
}

const standing = JSON.stringify({
  state: { name: 'active' },
  latest: { invoiceId: '1xUtVwWMcJy7B8yrdFKDS4p', paymentId: '1' },
  lastSuccessAt: '2026-11-21T22:25:01.019000Z',
  chargesMade: 2,
  noticedUntil: '2026-11-21T22:24:57.331000Z',
});

/** Of the first payment of this run, on which recurring ones rest. */
let agreement: string | undefined;

function messageOf(recurring: boolean) {
  return {
    kind: 'authorise',
    merchant: { id: 'TEST', terminal: bankId, descriptor: 'Test shop' },
    amount: amountMinor,
    currency: 'RUB',
    capture: true,
    card: {
      number: '4242424242424242',
      expiry: '2030-12',
      holder: 'JOHN DOE',
      ...(recurring ? {} : { securityCode: '123' }),
    },
    initiation: recurring
      ? {
          by: 'merchant',
          reason: 'recurring',
          rootNetworkTransactionId: agreement,
          previousNetworkTransactionId: agreement,
        }
      : { by: 'payer', storesCard: true },
    authentication: recurring ? 'none' : 'preferred',
    returnUrl: 'http://127.0.0.1/return',
    payer: { ip: '127.0.0.1', fingerprint: 'bench', email: 'payer@example.com' },
  };
}

export async function answerCharges(app: FastifyInstance): Promise<void> {
  await openAccount(uncleared, bankId, 16);
  await openAccount(settlement, 'TEST', 8, true);

  app.post('/v2/processing/invoices', async (request, reply) => {
    const id = randomIds.next();
    const body = request.body as { amount: number; product: string };
    const created = { type: 'invoice_created', terms: { id, createdAt: new Date().toISOString(), ...body } };
    await run('invoice', insertInvoice, [id, body.amount, body.product, JSON.stringify([created])]);
    return reply
      .code(201)
      .send({ invoice: { id, ...body, status: 'unpaid' }, invoiceAccessToken: { payload: id } });
  });

  app.post('/v2/processing/payment-resources', async (_, reply) => {
    const id = randomIds.next();
    await run('card', insertCard, [id, clientInfo, sealed, hash]);
    return reply.code(201).send({ paymentToolToken: id, paymentSession: id });
  });

  app.post('/v2/processing/invoices/:id/payments', async (request, reply) => {
    const { id: invoiceId } = request.params as { id: string };
    const { payer, makeRecurrent = false } = request.body as {
      payer: { paymentToolToken?: string; recurrentParentPayment?: { invoiceID: string } };
      makeRecurrent?: boolean;
    };
    const parent = payer.recurrentParentPayment;
    const seriesId = parent && `${parent.invoiceID}.1`;
    const token = payer.paymentToolToken ?? invoiceId;
    const terms = termsOf(token, seriesId, makeRecurrent);
    const started = { type: 'payment_started', terms: { ...terms, invoiceId, id: '1' }, paymentId: '1' };
    const values = [invoiceId, amountMinor, JSON.stringify(terms), JSON.stringify([started])];
    if (!seriesId) await run('payment', insertPayment, [...values, token]);
    else await run('charge', insertCharge, [...values, seriesId, ...seriesChange(invoiceId, 'started')]);
    inBackground(charge({ invoiceId, token, makeRecurrent, ...(seriesId ? { seriesId } : {}) }));
    return reply.code(201).send({ id: '1', invoiceID: invoiceId, status: 'pending', payer: terms.payer });
  });

  app.get('/v2/processing/invoices/:id/payments/1', async (request, reply) => {
    const { id } = request.params as { id: string };
    const { rows } = await run('read', readPayment, [id]);
    return reply.send({ id: '1', invoiceID: id, status: rows[0].status, payer: rows[0].terms.payer });
  });
}
