// The floor of a withdrawal: reserve the money, pay it out at the bank, post it. It does not check the wallet's balance.
import type { FastifyInstance } from 'fastify';
import { randomIds } from '../../src/ids.ts';
import { bankId, party } from './charge-statements.ts';
import { askBank, inBackground, openAccount, pool, run, shardOf } from './externals.ts';

const transit = `test:RUB:payout.in_transit:${bankId}`;
const terminal = { id: bankId, bankId, merchantId: 'PAYOUTS', descriptor: 'Sandbox' };
const pendingStep = `'withdrawal', 'payout', 'pending', false`;
const postedStep = `'withdrawal', 'payout', 'post', true`;

const insertWithdrawal = `
  with made as (
    insert into withdrawal (withdrawal_id, party_id, wallet_id, destination_id, identity_id, version, status, created_at,
      amount_minor, fee_minor, currency, terms, wake_at, attempts)
    values ($1, '${party}', $2, $3, $4, 1, 'sending', now(), $5, 0, 'RUB', $6, now() + interval '1 minute', 1)
  ), logged as (
    insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
    values ($1, 1, 'withdrawal', '${party}', now(), $7)
  ), moved as (
    insert into ledger_transfer (aggregate_id, operation_id, step, phase, completes_pending, debit_account, debit_shard,
      credit_account, credit_shard, posted_minor, pending_minor, happened_at)
    values ($1, ${pendingStep}, 'test:RUB:wallet.own:' || $2, 0, '${transit}', $8, 0, $5, now())
  ), reserved as (
    update ledger_balance set debits_pending = debits_pending + $5
    where account_id = 'test:RUB:wallet.own:' || $2 and shard = 0
  )
  update ledger_balance set credits_pending = credits_pending + $5 where account_id = '${transit}' and shard = $8`;

const endWithdrawal = `
  with ended as (
    update withdrawal set version = 2, status = 'succeeded', result = $4, wake_at = null, attempts = 0 where withdrawal_id = $1
  ), logged as (
    insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
    values ($1, 2, 'withdrawal', '${party}', now(), $5)
  ), moved as (
    insert into ledger_transfer (aggregate_id, operation_id, step, phase, completes_pending, debit_account, debit_shard,
      credit_account, credit_shard, posted_minor, pending_minor, happened_at)
    values ($1, ${postedStep}, 'test:RUB:wallet.own:' || $2, 0, '${transit}', $6, $3, -$3::bigint, now())
  ), drawn as (
    update ledger_balance set debits_posted = debits_posted + $3::bigint, debits_pending = debits_pending - $3::bigint
    where account_id = 'test:RUB:wallet.own:' || $2 and shard = 0
  )
  update ledger_balance set credits_posted = credits_posted + $3::bigint, credits_pending = credits_pending - $3::bigint
  where account_id = '${transit}' and shard = $6`;

const readWithdrawal = 'select status, terms from withdrawal where withdrawal_id = $1';

type Payout = { readonly id: string; readonly wallet: string; readonly amountMinor: number };

async function payOut({ id, wallet, amountMinor }: Payout): Promise<void> {
  const { reference } = await askBank(`${id}.p`, {
    kind: 'payout',
    merchant: { id: terminal.merchantId, terminal: terminal.id, descriptor: terminal.descriptor },
    amount: amountMinor,
    currency: 'RUB',
    card: { number: '4242424242424242', expiry: '2030-12', holder: 'JOHN DOE' },
  });
  const fact = JSON.stringify([{ type: 'withdrawal_succeeded', reference }]);
  const result = JSON.stringify({ reference });
  await run('end withdrawal', endWithdrawal, [id, wallet, amountMinor, result, fact, shardOf(id, 16)]);
}

/** The wallet has more money than a run pays out. */
async function openWallet(id: string): Promise<void> {
  const account = `test:RUB:wallet.own:${id}`;
  await pool.query(
    `insert into ledger_account (account_id, livemode, currency, code, owner_id, forbids_overdraft, shards)
     values ($1, false, 'RUB', 'wallet.own', $2, true, 0)`,
    [account, id],
  );
  await pool.query(
    `insert into ledger_balance (account_id, shard, is_unsharded, credits_posted) values ($1, 0, true, 1000000000)`,
    [account],
  );
}

export async function answerWithdrawals(app: FastifyInstance): Promise<void> {
  await openAccount(transit, bankId, 16);

  // Created before the clock runs: of these only a wallet writes rows, its account.
  const identity = randomIds.next();
  app.post('/wallet/v0/identities', async (_, reply) => reply.code(201).send({ id: identity }));
  app.post('/payres/v0/bank-cards', async (_, reply) => reply.code(201).send({ token: randomIds.next() }));
  app.post('/wallet/v0/destinations', async (_, reply) => reply.code(201).send({ id: randomIds.next() }));
  app.get('/wallet/v0/destinations/:id', async (_, reply) => reply.send({ status: 'Authorized' }));
  app.post('/wallet/v0/wallets', async (_, reply) => {
    const id = randomIds.next();
    await openWallet(id);
    return reply.code(201).send({ id });
  });

  app.post('/wallet/v0/withdrawals', async (request, reply) => {
    const { wallet, destination, body } = request.body as {
      wallet: string;
      destination: string;
      body: { amount: number; currency: string };
    };
    const id = randomIds.next();
    const terms = { walletPartyId: party, cardToken: id, isCounted: false, route: { bankId, terminal } };
    const started = { id, partyId: party, walletId: wallet, walletPartyId: party, identityId: identity };
    const money = { amountMinor: body.amount, currency: body.currency, feeMinor: 0 };
    const createdAt = new Date().toISOString();
    const fact = {
      type: 'withdrawal_started',
      terms: { ...started, destinationId: destination, createdAt, ...money },
    };
    await run('withdrawal', insertWithdrawal, [
      id,
      wallet,
      destination,
      identity,
      body.amount,
      JSON.stringify(terms),
      JSON.stringify([fact]),
      shardOf(id, 16),
    ]);
    inBackground(payOut({ id, wallet, amountMinor: body.amount }));
    return reply.code(202).send({ id, createdAt, wallet, destination, body, status: 'Pending' });
  });

  app.get('/wallet/v0/withdrawals/:id', async (request, reply) => {
    const { id } = request.params as { id: string };
    const { rows } = await run('read withdrawal', readWithdrawal, [id]);
    return reply.send({ id, status: rows[0].status === 'succeeded' ? 'Succeeded' : 'Pending', body: {} });
  });
}
