// The floor: what a charge costs at least. A bare program that takes the same requests, writes the same rows in as many
// transactions, makes the same calls to the bank and answers the same polls, with the same HTTP server and the same driver, and
// does nothing else: no validation, no authentication, no vault, no rules, no repeats, no recovery. `bench/bench.ts` runs it
// in turns with the service; their ratio says what our care costs.
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import fastify from 'fastify';
import pg from 'pg';
import { openLink } from '../../src/bank/http/link.ts';
import { protocolVersion, sign, signatureHeader, versionHeader } from '../../src/bank/http/signature.ts';

const { DATABASE_URL: connectionString = '', BANK_URL: bankUrl = '', BANK_SECRET: secret = '' } = process.env;
const connections = Number(process.env['DATABASE_CONNECTIONS'] ?? 10);
const pool = new pg.Pool({ connectionString, max: connections });
const bank = openLink(new URL(bankUrl).origin, 5_000);
const bankPath = new URL(bankUrl).pathname.replace(/\/$/, '');
const newId = () => randomUUID().replaceAll('-', '');

/** As long as what the service writes in their place. */
const sealed = randomBytes(92);
const hash = randomBytes(32);
const clientInfo = JSON.stringify({ fingerprint: 'bench', ip: '127.0.0.1' });
const terms = (token: string) =>
  JSON.stringify({
    flow: { type: 'instant' },
    payer: {
      type: 'resource',
      token,
      session: token,
      card: { bin: '424242', lastDigits: '4242', mask: '424242******4242', paymentSystem: 'visa' },
      clientInfo: { fingerprint: 'bench', ip: '127.0.0.1' },
      contactInfo: { email: 'payer@example.com' },
    },
    makeRecurrent: false,
    deadline: '2026-01-19T10:30:00.123456Z',
    terminal: { id: 'SIMULATED', bankId: 'SIMULATED', merchantId: 'TEST', descriptor: 'Test shop' },
    realm: 'test',
    fees: {},
  });

const insertInvoice = `
  with made as (
    insert into invoice (invoice_id, party_id, shop_id, version, status, created_at, due_date, amount_minor, currency,
      product, metadata, wake_at)
    values ($1, 'FLOOR', 'TEST', 1, 'unpaid', now(), now() + interval '1 day', $2, 'RUB', $3, '{}', now() + interval '1 day'))
  insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
  values ($1, 1, 'invoice', 'FLOOR', now(), $4)`;

const insertCard = `
  with made as (
    insert into card (card_id, party_id, session_id, stored_at, valid_until, payment_system, mask, client_info, sealed,
      seal_generation, fingerprint, fingerprint_generation, identity_hash)
    values ($1, 'FLOOR', $1, now(), now() + interval '1 hour', 'visa', '424242******4242', $2, $3, 1, $4, 1, $4))
  insert into security_code (session_id, card_id, half_hour, sealed, expires_at)
  values ($1, $1, 1, $3, now() + interval '15 minutes')`;

const insertPayment = `
  with kept as (
    update card set is_kept = true where card_id = $2
  ), changed as (
    update invoice set version = version + 1, payments_made = 1, payment_in_progress = true, wake_at = null
    where invoice_id = $1
  ), made as (
    insert into payment (invoice_id, payment_id, party_id, shop_id, version, status, created_at, amount_minor, currency,
      terms, state, wake_at, attempts)
    values ($1, '1', 'FLOOR', 'TEST', 1, 'authorising', now(), $3, 'RUB', $4, '{}', now() + interval '1 minute', 1))
  insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
  values ($1, 2, 'invoice', 'FLOOR', now(), $4)`;

const takeCode = 'delete from security_code where session_id = $1';

const capture = `
  with paid as (
    update payment set version = 2, status = 'captured', captured_minor = amount_minor, state = $2, wake_at = null
    where invoice_id = $1 and payment_id = '1'
  ), changed as (
    update invoice set version = 4, status = 'paid', payment_in_progress = false where invoice_id = $1
  ), moved as (
    insert into ledger_transfer (aggregate_id, operation_id, step, phase, resolves, debit_account, debit_lane,
      credit_account, credit_lane, posted_minor, pending_minor, happened_at)
    values ($1, 'payment/1', 'sale', 'single', false, 'test:RUB:acq.uncleared:FLOOR', $3, 'test:RUB:merchant.settlement:FLOOR:TEST',
      $4, $5, 0, now())
  ), debited as (
    update ledger_balance set debits_posted = debits_posted + $5 where account_id = 'test:RUB:acq.uncleared:FLOOR' and lane = $3
  ), credited as (
    update ledger_balance set credits_posted = credits_posted + $5
    where account_id = 'test:RUB:merchant.settlement:FLOOR:TEST' and lane = $4
  )
  insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
  values ($1, 3, 'invoice', 'FLOOR', now(), $2), ($1, 4, 'invoice', 'FLOOR', now(), $2)`;

const readPayment = `select status, terms from payment where invoice_id = $1 and payment_id = '1'`;

/** Prepared once for each connection, as the service does. */
function run(name: string, text: string, values: unknown[]): Promise<pg.QueryResult> {
  return pool.query({ name, text, values });
}

async function openAccounts(): Promise<void> {
  for (const [account, party, owner, lanes] of [
    ['test:RUB:acq.uncleared:FLOOR', null, 'FLOOR', 16],
    ['test:RUB:merchant.settlement:FLOOR:TEST', 'FLOOR', 'TEST', 8],
  ] as const) {
    await pool.query(
      `insert into ledger_account (account_id, realm, currency, code, party_id, owner_id, has_floor, lanes)
       values ($1, 'test', 'RUB', $2, $3, $4, false, $5) on conflict do nothing`,
      [account, account.split(':')[2], party, owner, lanes],
    );
    await pool.query(
      `insert into ledger_balance (account_id, lane, stands_alone) select $1, lane, false from generate_series(1, $2) as lane
       on conflict do nothing`,
      [account, lanes],
    );
  }
}

async function charge(invoiceId: string, session: string, amount: number, recurring: boolean): Promise<void> {
  await run('take', takeCode, [session]);
  const body = Buffer.from(JSON.stringify(messageOf(amount, recurring)));
  const target = `${bankPath}/operations/${invoiceId}.1.a`;
  const exchange = await bank.ask({
    method: 'PUT',
    target,
    body,
    headers: {
      'content-type': 'application/json',
      [versionHeader]: protocolVersion,
      [signatureHeader]: sign(secret, { method: 'PUT', target, body }, Math.floor(Date.now() / 1_000)),
    },
    answerMs: 30_000,
  });
  if (exchange.came === 'nothing') throw new Error(exchange.why);
  const { outcome, networkTransactionId } = JSON.parse(exchange.body.toString());
  if (outcome !== 'approved') throw new Error(`the bank answered ${exchange.body.toString()}`);
  agreement ??= networkTransactionId;
  const lane = Number.parseInt(invoiceId.slice(0, 6), 16);
  await run('capture', capture, [
    invoiceId,
    exchange.body.toString(),
    1 + (lane % 16),
    1 + (lane % 8),
    amount,
  ]);
}

/** Of the first payment of this run, on which recurring ones rest. */
let agreement: string | undefined;

function messageOf(amount: number, recurring: boolean) {
  return {
    kind: 'authorise',
    merchant: { id: 'TEST', terminal: 'SIMULATED', descriptor: 'Test shop' },
    amount,
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

const app = fastify();

app.post('/v2/processing/invoices', async (request, reply) => {
  const id = newId();
  const body = request.body as { amount: number; product: string };
  await run('invoice', insertInvoice, [id, body.amount, body.product, JSON.stringify([body])]);
  return reply
    .code(201)
    .send({ invoice: { id, ...body, status: 'unpaid' }, invoiceAccessToken: { payload: id } });
});

app.post('/v2/processing/payment-resources', async (_, reply) => {
  const id = newId();
  await run('card', insertCard, [id, clientInfo, sealed, hash]);
  return reply.code(201).send({ paymentToolToken: id, paymentSession: id });
});

app.post('/v2/processing/invoices/:id/payments', async (request, reply) => {
  const { id } = request.params as { id: string };
  const { payer } = request.body as { payer: { payerType: string; paymentToolToken?: string } };
  const token = payer.paymentToolToken ?? id;
  const json = terms(token);
  await run('payment', insertPayment, [id, token, amountMinor, json]);
  charge(id, token, amountMinor, payer.payerType === 'RecurrentPayer').catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
  return reply.code(201).send({ id: '1', invoiceID: id, status: 'pending', payer: JSON.parse(json).payer });
});

app.get('/v2/processing/invoices/:id/payments/1', async (request, reply) => {
  const { id } = request.params as { id: string };
  const { rows } = await run('read', readPayment, [id]);
  return reply.send({ id: '1', invoiceID: id, status: rows[0].status, payer: rows[0].terms.payer });
});

const amountMinor = 6_000;
await openAccounts();
const address = await app.listen({ host: '127.0.0.1', port: 0 });
console.log(JSON.stringify({ address, msg: 'ready' }));
await once(process, 'SIGTERM');
await app.close();
await bank.stop();
await pool.end();
