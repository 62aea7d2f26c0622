// The floor of a binding: customer, card, verification charge and refund, and the series that later charges rest on.
import type { FastifyInstance } from 'fastify';
import { randomIds } from '../../src/ids.ts';
import { bankId, party } from './charge-statements.ts';
import {
  askBank,
  cardDetails,
  contactInfo,
  hash,
  inBackground,
  shardOf,
  openAccount,
  run,
  type Approval,
} from './externals.ts';

const amountMinor = 1_000;
const uncleared = `test:RUB:acq.uncleared:${bankId}`;
const clearing = 'test:RUB:binding.clearing';
const terminal = { id: bankId, bankId, merchantId: 'TEST', descriptor: 'Test shop' };
const clientInfo = { fingerprint: 'bench', ip: '127.0.0.1' };
const merchant = { id: 'TEST', terminal: bankId, descriptor: 'Test shop' };

const insertCustomer = `
  with made as (
    insert into customer (customer_id, party_id, shop_id, version, status, created_at, contact_info, metadata, bindings_made)
    values ($1, '${party}', 'TEST', 1, 'unready', now(), $2, '{}', 0))
  insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
  values ($1, 1, 'customer', '${party}', now(), $3)`;

const insertBinding = `
  with changed as (
    update customer set version = 2, bindings_made = 1 where customer_id = $1
  ), retained as (
    update card set is_retained = true, wake_at = coalesce(wake_at, valid_until), retained_for = $6 where card_id = $5
  ), made as (
    insert into binding (customer_id, binding_id, party_id, shop_id, version, number, status, created_at, amount_minor,
      currency, card_fingerprint, terms, state, wake_at, attempts)
    values ($1, $2, '${party}', 'TEST', 2, 1, 'authorising', now(), ${amountMinor}, 'RUB', $7, $3, '{}',
      now() + interval '1 minute', 1))
  insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
  values ($1, 2, 'customer', '${party}', now(), $4)`;

const takeCode = 'delete from security_code where session_id = $1';

/** `$5` is the shard of both accounts, the bank's and the clearing account. */
const chargeBinding = `
  with changed as (
    update customer set version = 3 where customer_id = $1
  ), charged as (
    update binding set version = 3, status = 'returning', state = $3, refund_due_at = now() + interval '1 hour', wake_at = now()
    where customer_id = $1 and binding_id = $2
  ), moved as (
    insert into ledger_transfer (aggregate_id, operation_id, step, phase, completes_pending, debit_account, debit_shard,
      credit_account, credit_shard, posted_minor, pending_minor, happened_at)
    values
      ($1, 'binding/' || $2, 'charge', 'single', false, '${uncleared}', $5, '${clearing}', $5, ${amountMinor}, 0, now()),
      ($1, 'binding/' || $2, 'return', 'pending', false, '${clearing}', $5, '${uncleared}', $5, 0, ${amountMinor}, now())
  ), at_bank as (
    update ledger_balance set debits_posted = debits_posted + ${amountMinor}, credits_pending = credits_pending + ${amountMinor}
    where account_id = '${uncleared}' and shard = $5
  ), in_clearing as (
    update ledger_balance set credits_posted = credits_posted + ${amountMinor}, debits_pending = debits_pending + ${amountMinor}
    where account_id = '${clearing}' and shard = $5
  )
  insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
  values ($1, 3, 'customer', '${party}', now(), $4)`;

const endBinding = `
  with changed as (
    update customer set version = 4, status = 'ready', active_binding_id = $2 where customer_id = $1
  ), bound as (
    update binding set version = 4, status = 'succeeded', refund_due_at = null, wake_at = null, bound_at_version = 4
    where customer_id = $1 and binding_id = $2
  ), moved as (
    insert into ledger_transfer (aggregate_id, operation_id, step, phase, completes_pending, debit_account, debit_shard,
      credit_account, credit_shard, posted_minor, pending_minor, happened_at)
    values
      ($1, 'binding/' || $2, 'return', 'post', true, '${clearing}', $4, '${uncleared}', $4, ${amountMinor}, -${amountMinor}, now())
  ), at_bank as (
    update ledger_balance set credits_posted = credits_posted + ${amountMinor}, credits_pending = credits_pending - ${amountMinor}
    where account_id = '${uncleared}' and shard = $4
  ), in_clearing as (
    update ledger_balance set debits_posted = debits_posted + ${amountMinor}, debits_pending = debits_pending - ${amountMinor}
    where account_id = '${clearing}' and shard = $4
  ), logged as (
    insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
    values ($1, 4, 'customer', '${party}', now(), $3)
  ), started as (
    insert into series (series_id, party_id, shop_id, version, status, card_key, card_token, chain, terms, state, wake_at)
    values ($5, '${party}', 'TEST', 1, 'active', $6, $7, $8, $9, $10, now() + interval '5 months')
  )
  insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
  values ($5, 1, 'series', '${party}', now(), $11)`;

const readBinding = 'select status, terms from binding where customer_id = $1 and binding_id = $2';

type Names = { readonly customerId: string; readonly id: string; readonly token: string };

async function bind({ customerId, id, token }: Names): Promise<void> {
  const shard = shardOf(customerId, 16);
  await run('take', takeCode, [token]);
  const approval = await askBank(`${customerId}.${id}.charge`, chargeMessage);
  const charged = { type: 'binding_charged', approval, returnBy: new Date().toISOString(), bindingId: id };
  const state = JSON.stringify({ approval, returnBy: charged.returnBy });
  await run('charge binding', chargeBinding, [customerId, id, state, JSON.stringify([charged]), shard]);
  const originalOperationId = `${customerId}.${id}.charge`;
  await askBank(`${customerId}.${id}.reverse`, { kind: 'reverse', merchant, originalOperationId });
  const bound = [
    { type: 'binding_succeeded', bindingId: id },
    { type: 'customer_ready', bindingId: id },
  ];
  await run('end binding', endBinding, [
    customerId,
    id,
    JSON.stringify(bound),
    shard,
    `${customerId}.${hash.toString('hex').slice(0, 16)}`,
    hash,
    token,
    hash.toString('hex'),
    ...seriesOf(customerId, id, approval),
  ]);
}

/** Terms, state and fact. */
function seriesOf(customerId: string, id: string, approval: Approval): string[] {
  const now = new Date().toISOString();
  const root = { invoiceId: customerId, paymentId: id };
  const terms = {
    kind: 'customer',
    root,
    card: { paymentSystem: 'visa', lastDigits: '4242', endsAt: now },
    mandate: {
      schedule: 'as agreed with the merchant',
      evidence: 'missing',
      payer: { ...clientInfo, contactInfo },
      payment: { createdAt: now, amountMinor, currency: 'RUB', ...approval },
    },
    consentedAt: now,
    rootNetworkTransactionId: approval.networkTransactionId,
  };
  const state = {
    state: { name: 'active' },
    latest: root,
    lastSuccessAt: now,
    chargesMade: 0,
    noticedUntil: now,
  };
  const started = {
    type: 'series_started',
    terms: { id: customerId, partyId: party, shopId: 'TEST', ...terms },
  };
  return [JSON.stringify(terms), JSON.stringify(state), JSON.stringify([started])];
}

const chargeMessage = {
  kind: 'authorise',
  merchant,
  amount: amountMinor,
  currency: 'RUB',
  capture: true,
  card: { number: '4242424242424242', expiry: '2030-12', holder: 'JOHN DOE', securityCode: '123' },
  initiation: { by: 'payer', storesCard: true },
  authentication: 'required',
  returnUrl: 'http://127.0.0.1/return',
  payer: { ...clientInfo, ...contactInfo },
};

export async function answerBindings(app: FastifyInstance): Promise<void> {
  await openAccount(clearing, null, 16);

  app.post('/v2/processing/customers', async (_, reply) => {
    const id = randomIds.next();
    const customer = {
      id,
      shopId: 'TEST',
      contactInfo,
      metadata: {},
      partyId: party,
      createdAt: new Date().toISOString(),
    };
    const created = JSON.stringify([{ type: 'customer_created', terms: customer }]);
    await run('customer', insertCustomer, [id, JSON.stringify(contactInfo), created]);
    return reply.code(201).send({ customer, customerAccessToken: { payload: id } });
  });

  app.post('/v2/processing/customers/:customerId/bindings', async (request, reply) => {
    const { customerId } = request.params as { customerId: string };
    const { paymentResource } = request.body as { paymentResource: { paymentToolToken: string } };
    const { paymentToolToken: token } = paymentResource;
    const id = randomIds.next();
    const deadline = new Date().toISOString();
    const card = { token, session: token, details: cardDetails, clientInfo };
    const terms = { card, deadline, terminal, realm: 'test', email: contactInfo.email };
    const binding = {
      ...terms,
      id,
      customerId,
      number: 1,
      partyId: party,
      shopId: 'TEST',
      createdAt: deadline,
    };
    const amount = { minor: amountMinor, currency: 'RUB' };
    await run('binding', insertBinding, [
      customerId,
      id,
      JSON.stringify(terms),
      JSON.stringify([{ type: 'binding_started', bindingId: id, terms: { ...binding, amount } }]),
      token,
      JSON.stringify([`binding/${customerId}/${id}`]),
      hash,
    ]);
    inBackground(bind({ customerId, id, token }));
    return reply.code(201).send({ id, paymentResource: card, status: 'pending', isActive: false });
  });

  app.get('/v2/processing/customers/:customerId/bindings/:id', async (request, reply) => {
    const { customerId, id } = request.params as { customerId: string; id: string };
    const { rows } = await run('read binding', readBinding, [customerId, id]);
    const { status, terms } = rows[0];
    return reply.send({ id, paymentResource: terms.card, status, isActive: status === 'succeeded' });
  });
}
