// Each check runs on a correct world and on the same world with one thing wrong.
// Only the checks that must find it may report something.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkWorldOf, startSmallWorld, type SmallWorld } from '../../test/support/worlds/small-world.ts';
import { makeInvoice } from '../../test/support/worlds/invoices.ts';
import type { Left } from './world.ts';
import { incremental, settledFindings, whole, type CheckWorld, type Finding } from './index.ts';

let world: SmallWorld;
beforeAll(async () => {
  world = await startSmallWorld();
});
afterAll(() => world.close());

type Changes = { readonly sql?: string; readonly heard?: Partial<Parameters<typeof checkWorldOf>[1]> };

/** The findings while the world is changed; afterwards the change is rolled back. */
async function found(
  { sql, heard = {} }: Changes,
  look: (seen: CheckWorld) => Promise<Finding[]> = settledFindings,
): Promise<Finding[]> {
  return world.service.testDatabase.database.withClient(async (client) => {
    await client.query('begin');
    try {
      for (const table of ['event', 'ledger_transfer', 'ledger_account'])
        await client.query(`alter table ${table} disable trigger user`);
      await client.query('alter table ledger_balance drop constraint ledger_balance_no_overdraft');
      if (sql !== undefined) await client.query(sql);
      const query = async (text: string, values?: unknown[]) => (await client.query(text, values)).rows;
      return await look(checkWorldOf(query, { ...world, ...heard }));
    } finally {
      await client.query('rollback');
    }
  });
}

test('the checks find nothing in a correct world, complete, settled or incremental', async () => {
  expect(await found({}, whole)).toEqual([]);
  expect(await found({})).toEqual([]);
  expect(await found({}, incremental)).toEqual([]);
  expect(world.entries.length).toBeGreaterThan(10);
  expect(world.received.length).toBeGreaterThan(10);
});

const another = (change: Partial<SmallWorld['entries'][number]>) => ({
  entries: world.entries.map((entry, place) => (place === 0 ? { ...entry, ...change } : entry)),
});
const answered = (method: string, path: string, body: unknown) => ({
  acknowledged: [...world.acknowledged, { method, path, status: 200, body, at: '' }],
});

/** The first response a second time under one key, with the change in it. */
const again = (change: object, askedAgainAt: string) => {
  const { path, body } = world.acknowledged.find(({ method }) => method === 'POST')!;
  const firstAskedAt = '2026-01-19T10:00:00.000Z';
  const answer = { method: 'POST', path, status: 201, repeatable: { request: 'key', firstAskedAt } };
  return {
    acknowledged: [
      ...world.acknowledged,
      { ...answer, body, at: firstAskedAt },
      { ...answer, body: { ...(body as object), ...change }, at: askedAgainAt },
    ],
  };
};
/** A response with that status and body under the key, before the final one. */
const tooEarlyBefore = (status: number, body: object) => {
  const { acknowledged } = again({}, '2026-01-20T10:00:00.000Z');
  return { acknowledged: acknowledged.toSpliced(-2, 1, { ...acknowledged.at(-2)!, status, body }) };
};
/** Every operation of the bank, requested when the transactions of that snapshot had ended. */
const askedAt = (snapshot: string) => ({
  asked: world.entries.map(({ operationId }) => ({ operationId, snapshot, isLogged: true })),
});
const everythingCommitted = '9000000000:9000000000:';
const nothingCommitted = '3:3:';

test('repeats accepts the same response, and another one after the key expired', async () => {
  expect(await found({ heard: again({}, '2026-01-20T10:00:00.000Z') })).toEqual([]);
  expect(await found({ heard: again({ other: 1 }, '2026-01-26T10:00:00.000Z') })).toEqual([]);
});

test('repeats accepts another response after a retryable one', async () => {
  const retryAfter = '2026-01-20T00:00:00.000000Z';
  expect(await found({ heard: tooEarlyBefore(429, { message: 'x' }) })).toEqual([]);
  expect(await found({ heard: tooEarlyBefore(422, { message: 'x', retryAfter }) })).toEqual([]);
});

test('durable accepts bank requests whose cause was committed, and no others', async () => {
  expect(await found({ heard: askedAt(everythingCommitted) })).toEqual([]);
  const kinds = new Set(world.entries.map(({ kind }) => kind));
  expect(kinds).toEqual(new Set(['authorise', 'capture', 'reverse', 'refund', 'payout']));
  const early = await found({ heard: askedAt(nothingCommitted) });
  expect(early).toHaveLength(world.entries.length);
  expect(new Set(early.map(({ check }) => check))).toEqual(new Set(['durable']));
});

const started = () => world.entries.find(({ operationId }) => operationId === `${world.sold.id}.1.a`)!;
const leaving = (more: Partial<Left>): Left => ({
  operationId: started().operationId,
  bankId: 'BANK',
  kind: 'authorise',
  isByPayer: true,
  notAfter: started().at,
  takesMoney: true,
  isProved: true,
  mayBeAt: [],
  ...more,
});

test('proved wants an answer that says that the payer was charged before a refund leaves, but for a late approval', async () => {
  const refund = { operationId: 'I.1.u', kind: 'refund', takesMoney: false };
  expect(await found({ heard: { left: [leaving(refund)] } })).toEqual([]);
  const late = leaving({ ...refund, operationId: 'I.1.l', isProved: false });
  expect(await found({ heard: { left: [late] } })).toEqual([]);
  expect(await found({ heard: { left: [leaving({ ...refund, isProved: false })] } })).toEqual([
    { check: 'proved', about: 'I.1.u', problem: expect.stringContaining('charged') },
  ]);
});

test('one bank accepts the same bank again, and a payout again only if it was refused before it left', async () => {
  const payout = { operationId: 'W.p', kind: 'payout' };
  const twice = (more: Partial<Left>, then: Partial<Left> = {}) => ({
    left: [leaving(more), leaving({ ...more, bankId: 'OTHER', ...then })],
  });
  const stillThere = { mayBeAt: ['BANK'] };
  expect(await found({ heard: { left: [leaving({}), leaving(stillThere)] } })).toEqual([]);
  expect(await found({ heard: twice(payout) })).toEqual([]);
  for (const heard of [
    twice({}),
    twice({}, stillThere),
    twice(payout, stillThere),
    twice(payout, { ...stillThere, bankId: 'BANK' }),
  ]) {
    const [moved, ...others] = await found({ heard });
    expect(moved).toMatchObject({ check: 'one bank', problem: expect.stringContaining('bank BANK before') });
    expect(others).toEqual([]);
  }
});

test('one kind accepts a repeat, and nothing of another kind under the ID of an operation', async () => {
  const reversal = { operationId: 'I.1.r', kind: 'reverse', isByPayer: false };
  const heard = (kind: string) => ({ left: [leaving(reversal), leaving({ ...reversal, kind })] });
  expect(await found({ heard: heard('reverse') })).toEqual([]);
  const mixed = await found({ heard: heard('refund') });
  expect(mixed[0]).toMatchObject({ check: 'one kind', problem: 'it left as refund, and as reverse before' });
  expect(new Set(mixed.map(({ check }) => check))).toEqual(new Set(['one kind']));
});

test('in time wants a limit of three minutes for a payer who is present, and for no other', async () => {
  const after = (ms: number) => new Date(Date.parse(started().at) + ms).toISOString();
  const heard = (more: Partial<Left>) => found({ heard: { left: [leaving(more)] } });
  expect(await heard({ notAfter: after(170_000) })).toEqual([]);
  expect(await heard({ notAfter: after(190_000) })).toMatchObject([{ check: 'in time' }]);
  expect(await heard({ notAfter: after(190_000), isByPayer: false })).toEqual([]);
  const { notAfter: _, ...endless } = leaving({});
  expect(await found({ heard: { left: [endless] } })).toMatchObject([{ check: 'in time' }]);
});

test('webhooks finds an earlier event after a later one, unless the queue was rewound', async () => {
  const { received } = world;
  const first = received.find((one) => earlierOf(received) === one)!;
  const place = received.indexOf(first);
  const replayed = [...received.slice(0, place), ...received.slice(place + 1), ...received.slice(place)];
  const heard = { received: replayed };
  expect(new Set((await found({ heard })).map(({ check }) => check))).toEqual(new Set(['webhooks']));
  expect(await found({ heard, sql: 'update webhook_queue set rewinds = 1' })).toEqual([]);
});

type Plant = readonly [what: string, by: readonly string[], change: () => Changes];
const plants: readonly Plant[] = [
  [
    'a kopeck more in a balance',
    ['balances'],
    () => ({
      sql: `update ledger_balance set credits_posted = credits_posted + 1 where shard = 0 and account_id like '%merchant.settlement%'`,
    }),
  ],
  ['a wallet transfer of more than is available', ['floors'], () => ({ sql: overdraw() })],
  [
    'a post of another sum than was pending',
    ['transfers', 'balances', 'postings'],
    () => ({
      sql: `alter table ledger_transfer drop constraint ledger_transfer_check1;
        update ledger_transfer set posted_minor = 9000 where aggregate_id = '${world.shipped.id}' and phase = 'post'`,
    }),
  ],
  [
    'a fee without a transfer',
    ['postings'],
    () => ({
      sql: `update payment set terms = jsonb_set(terms::jsonb, '{fees}', '{"processing": {"basisPoints": 100, "fixedMinor": 0}}')::json
        where invoice_id = '${world.sold.id}'`,
    }),
  ],
  [
    'a sum of payments that do not exist',
    ['search sums'],
    () => ({
      sql: `insert into search_sum values ('P', 'S', '2026-01-19T10:15Z', 'payment', 'RUB', 'captured', 0, 'visa', '', '', '', 900, 1)`,
    }),
  ],
  [
    'a payout that is in no sum',
    ['search sums'],
    () => ({
      sql: `insert into search_payout values ('P', '-test', 'W', '2026-01-19T10:15Z', 'succeeded', 900, 'RUB')`,
    }),
  ],
  [
    'an open hold of a cancelled payment',
    ['postings', 'balances'],
    () => ({
      sql: `delete from ledger_transfer where aggregate_id = '${world.released.id}' and phase = 'void'`,
    }),
  ],
  [
    'an invoice with a payment in progress that it does not have',
    ['invoices'],
    () => ({ sql: `update invoice set payment_in_progress = true where invoice_id = '${world.sold.id}'` }),
  ],
  [
    'a fact that may not follow',
    ['moves'],
    () => ({
      sql: `update event set facts = replace(facts::text, 'payment_cancel_started', 'payment_rerouted')::json
        where aggregate_id = '${world.released.id}'`,
      heard: { acknowledged: [] },
    }),
  ],
  [
    'a missing event',
    ['events'],
    () => ({
      sql: `delete from event where aggregate_id = '${world.shipped.id}' and facts::text like '%capture_started%'`,
      heard: { acknowledged: [] },
    }),
  ],
  [
    'an event earlier than the one before it',
    ['times'],
    () => ({
      sql: `update event set created_at = created_at - interval '1 day'
        where aggregate_id = '${world.shipped.id}' and facts::text like '%capture_started%'`,
    }),
  ],
  [
    'a transfer at the time of no event',
    ['times'],
    () => ({
      sql: `update ledger_transfer set happened_at = happened_at + interval '1 day'
        where aggregate_id = '${world.shipped.id}' and phase = 'post'`,
    }),
  ],
  [
    'a hold that ends before it starts',
    ['times'],
    () => ({
      sql: `update event set created_at = created_at + interval '1 day'
          where aggregate_id = '${world.shipped.id}' and sequence > 1;
        update ledger_transfer set happened_at = happened_at + interval '1 day'
          where aggregate_id = '${world.shipped.id}' and phase = 'pending';
        update ledger_transfer set happened_at = (
          select created_at from event where aggregate_id = '${world.shipped.id}' and sequence = 1)
          where aggregate_id = '${world.shipped.id}' and phase = 'post'`,
    }),
  ],
  [
    'a row changed without an event',
    ['events'],
    () => ({ sql: `update invoice set version = version + 1 where invoice_id = '${world.sold.id}'` }),
  ],
  [
    'a kopeck more at the bank',
    ['bank'],
    () => ({ heard: another({ amount: world.entries[0]!.amount + 1 }) }),
  ],
  [
    'an entry that the bank lacks',
    ['bank'],
    () => ({ heard: { entries: world.entries.filter(({ kind }) => kind !== 'payout') } }),
  ],
  [
    'a charge of no object',
    ['bank'],
    () => ({ heard: { entries: [...world.entries, { ...world.entries[0]!, operationId: 'stranger.1.a' }] } }),
  ],
  [
    'an entry that the bank has twice',
    ['bank', 'doubles'],
    () => ({ heard: { entries: [...world.entries, world.entries[0]!] } }),
  ],
  [
    'a final state that has changed since a client saw it',
    ['acknowledged'],
    () => ({
      heard: answered('GET', `/v2/processing/invoices/${world.sold.id}/payments/1`, {
        id: '1',
        status: 'failed',
      }),
    }),
  ],
  [
    'a missing payment that a client was promised',
    ['acknowledged'],
    () => ({
      heard: answered('POST', `/v2/processing/invoices/${world.sold.id}/payments`, {
        id: '2',
        status: 'pending',
      }),
    }),
  ],
  [
    'another object than that of the path',
    ['read objects'],
    () => ({ heard: answered('GET', `/v2/processing/invoices/${world.sold.id}`, { id: world.shipped.id }) }),
  ],
  [
    'another response under one key',
    ['repeats'],
    () => ({ heard: again({ other: 1 }, '2026-01-20T10:00:00.000Z') }),
  ],
  [
    'an object of a request that was answered 503',
    ['unavailable'],
    () => ({
      sql: `insert into external_id (party_id, operation, external_id, entity_id, fingerprint)
        values ('P', 'createInvoice', 'lost', '${world.sold.id}', '')`,
      heard: { unwritten: () => [{ partyId: 'P', externalId: 'lost' }] },
    }),
  ],
  [
    'a stored response of a request that was answered 503',
    ['unavailable'],
    () => ({
      sql: `insert into idempotency_key (owner_id, idempotency_key, request_hash, status, created_at)
        values ('P', 'lost', '', 201, now()), ('P', 'claimed', '', null, now())`,
      heard: { unwritten: () => [{ key: 'lost' }, { key: 'claimed' }] },
    }),
  ],
  [
    'a charge that the log does not have',
    ['durable'],
    () => ({
      heard: {
        asked: [{ operationId: `${world.sold.id}.2.a`, snapshot: everythingCommitted, isLogged: true }],
      },
    }),
  ],
  [
    'a charge that the exchange log does not have',
    ['logged'],
    () => ({
      heard: {
        asked: [{ operationId: `${world.sold.id}.1.a`, snapshot: everythingCommitted, isLogged: false }],
      },
    }),
  ],
  [
    'a payment that its bank says nothing about, and that no operator sees',
    ['waiting', 'postings', 'invoices', 'events', 'acknowledged', 'final'],
    () => ({
      sql: `update payment set status = 'capturing', version = 9, wake_at = now() where invoice_id = '${world.shipped.id}'`,
      heard: silentAbout(world.shipped, 65_000),
    }),
  ],
  [
    'a payment that has ended, and that operators see as waiting',
    ['waiting'],
    () => ({
      heard: {
        ...silentAbout(world.shipped, 65_000),
        shownAsWaiting: () => Promise.resolve([`${world.sold.id}.1`]),
      },
    }),
  ],
  [
    'a retry an hour after a failure',
    ['retries'],
    () => ({
      sql: `update series_attempt set outcome = 'declined', network = 'visa', code = '51'
        where created_at = (select min(created_at) from series_attempt)`,
    }),
  ],
  [
    'a charge after an expired card',
    ['retries', 'declines'],
    () => ({
      sql: `update series_attempt set outcome = 'declined', network = 'visa', code = '54'
        where created_at = (select min(created_at) from series_attempt)`,
    }),
  ],
  [
    'a charge through a paused terminal',
    ['declines'],
    () => ({
      sql: `update series_attempt set outcome = 'declined', network = 'visa', code = '58',
          ended_at = (select max(created_at) - interval '5 minutes' from series_attempt)
        where created_at = (select min(created_at) from series_attempt)`,
    }),
  ],
  [
    'a series that counts as failing without a failure',
    ['declines'],
    () => ({
      sql: `update series set state = (state::jsonb || '{"failingSince": "2026-01-19T10:00:00.000000Z"}')::json
        where series_id in (select series_id from series_attempt)`,
    }),
  ],
  [
    'a charge above what the payer agreed to',
    ['consent'],
    () => agreed('"mandate":\\{', '"mandate":{"amountRule":{"kind":"fixed","amountMinor":5999},'),
  ],
  [
    'a charge in another currency than the payer agreed to',
    ['consent'],
    () => agreed('"currency":"RUB"', '"currency":"USD"'),
  ],
  [
    'a second charge in a period of a shop that refuses it',
    ['consent'],
    () => ({
      sql: `${agreed('"schedule":"[^"]*"', '"schedule":"P1M"').sql};
        insert into recurring_settings (party_id, shop_id, settings)
        select party_id, shop_id, '{"periodRule": "refuse"}' from series where series_id = '${world.renewed.series}'`,
    }),
  ],
  [
    'a consent renewed with other terms than its link’s',
    ['renewals'],
    () => facts(world.renewed.series, '59900', '69900'),
  ],
  [
    'a consent renewed without an authentication',
    ['renewals'],
    () => facts(world.renewed.series, '"eci"', '"other"'),
  ],
  [
    'a consent renewed without a tick',
    ['renewals'],
    () => facts(world.renewed.series, '"receivedAt"', '"other"'),
  ],
  [
    'a consent that is not renewed although its check succeeded',
    ['renewals'],
    () => facts(world.renewed.series, 'consent_renewed', 'parent_added'),
  ],
  [
    'a consent renewed before the charge is refunded',
    ['renewals', 'bank'],
    () => ({
      heard: {
        entries: world.entries.filter(
          ({ operationId, kind }) => !operationId.startsWith(world.renewed.customer) || kind === 'authorise',
        ),
      },
    }),
  ],
  [
    'a payment that waits for an operator',
    ['final'],
    () => ({ sql: `update payment set stuck_at = now() where invoice_id = '${world.sold.id}'` }),
  ],
  [
    'an update of a bank that was never applied',
    ['final'],
    () => ({
      sql: `insert into exchange_note values ('BANK', 'update 1', '${world.sold.id}.1.a', 'holdEnded', '{}', 'waits', now())`,
    }),
  ],
  ['a webhook event that never came', ['webhooks'], () => ({ heard: { received: world.received.slice(1) } })],
  [
    'a webhook event again after a later one',
    ['webhooks'],
    () => ({ heard: { received: [...world.received, earlierOf(world.received)] } }),
  ],
  [
    'webhook events in another order',
    ['webhooks'],
    () => ({ heard: { received: world.received.toReversed() } }),
  ],
  [
    'a webhook event in two versions',
    ['webhooks'],
    () => ({
      heard: {
        received: [
          ...world.received,
          { ...world.received[0]!, body: { ...(world.received[0]!.body as object), eventType: 'Other' } },
        ],
      },
    }),
  ],
  ...(
    [
      '4242424242424242',
      btoa('x4242424242424242'),
      btoa('xy4242424242424242'),
      btoa('4242424242424242'),
    ] as const
  ).map((text): Plant => [
    `a card number as ${text}`,
    ['card numbers'],
    () => ({ sql: `update invoice set description = 'card ${text}' where invoice_id = '${world.sold.id}'` }),
  ]),
  [
    'a card number in bytes',
    ['card numbers'],
    () => ({ sql: `update card set match_hash = '4242424242424242'::bytea` }),
  ],
  [
    'a security code in a fact',
    ['card numbers'],
    () => ({ sql: `update invoice set metadata = '{"cvv": "123"}' where invoice_id = '${world.sold.id}'` }),
  ],
];

test.each(plants)('%s is found by %s', async (_what, by, change) => {
  const findings = await found(change());
  expect(new Set(findings.map(({ check }) => check)), JSON.stringify(findings, null, 1)).toEqual(new Set(by));
});

test('a short silence says nothing, nor does one before the last change or before a refund that waits for money', async () => {
  const capturing = `update payment set status = 'capturing', version = 9, wake_at = now() where invoice_id = '${world.shipped.id}'`;
  const waits = JSON.stringify({ refund: { id: '100', waitsUntil: '2030-01-19T10:00:00.000000Z' } });
  const waitingForMoney = capturing
    .replace(`'capturing'`, `'refunding'`)
    .replace('version = 9', `version = 9, state = (state::jsonb || '${waits}')::json`);
  for (const change of [
    { sql: capturing, heard: silentAbout(world.shipped, 64_999) },
    { sql: capturing.replace('9', '10'), heard: silentAbout(world.shipped, 65_000) },
    { sql: waitingForMoney, heard: silentAbout(world.shipped, 65_000) },
  ])
    expect((await found(change)).filter(({ check }) => check === 'waiting')).toEqual([]);
});

test('the incremental check finds what changed since the last one and reads nothing else', async () => {
  const { database } = world.service;
  await database.withClient(async (another) => {
    // A transaction in another database of the same cluster may have started before the latest event and still be open.
    await another.query('begin');
    // Otherwise the server ends the session if the checks take five seconds.
    await another.query('set local idle_in_transaction_session_timeout = 0');
    await another.query('select pg_current_xact_id()');
    await makeInvoice(world.service, world.merchant);
    await database.withClient(async (client) => {
      await client.query('begin');
      let rows = 0;
      const query = async (text: string, values?: unknown[]) => {
        const answer = await client.query(text, values);
        rows = answer.rows.length;
        return answer.rows;
      };
      const seen = checkWorldOf(query, world);
      expect(await incremental(seen)).toEqual([]);
      const everything = rows;
      await client.query('rollback');
      await client.query('begin');
      expect(await incremental(seen)).toEqual([]);
      expect(rows).toBe(1);
      await client.query(`update invoice set payment_in_progress = true, version = version + 1
        where invoice_id = '${world.sold.id}'`);
      await client.query(`insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
        select invoice_id, version, 'invoice', party_id, now(), '[]' from invoice where invoice_id = '${world.sold.id}'`);
      expect((await incremental(seen)).map(({ check }) => check)).toEqual(['invoices']);
      expect(rows).toBeLessThan(everything);
      await client.query('rollback');
    });
    await another.query('rollback');
  });
});

const silentAbout = ({ id }: { readonly id: string }, forMs: number) => ({
  silences: () => [{ payment: `${id}.1`, as_of: 9, for_ms: forMs }],
});

/** The facts of an aggregate with another text in them. */
const facts = (id: string, from: string, to: string) => ({
  sql: `update event set facts = regexp_replace(facts::text, '${from}', '${to}')::json where aggregate_id = '${id}'`,
});

/** The terms with which the series began. */
const agreed = (from: string, to: string) => ({
  sql: `${facts(world.renewed.series, from, to).sql} and sequence = 1`,
});

/** A webhook event after which the same webhook received another one of the same invoice. */
function earlierOf(received: SmallWorld['received']): SmallWorld['received'][number] {
  const queueOf = ({ webhookID, body }: (typeof received)[number]) =>
    `${webhookID} ${(body as { invoice?: { id: string } }).invoice?.id}`;
  const found = received.find((one, place) =>
    received.some((other, later) => later > place && queueOf(other) === queueOf(one)),
  );
  if (!found) throw new Error('no webhook received two events of one invoice');
  return found;
}

/** A complete transfer of money that the wallet does not have. */
function overdraw(): string {
  const wallets = `'${world.otherWallet}', '${world.wallet}'`;
  const accounts = `'test:RUB:wallet.own:${world.otherWallet}', 0, 'test:RUB:wallet.own:${world.wallet}', 0`;
  return `
    insert into wallet_transfer (transfer_id, party_id, sender_id, receiver_id, created_at, amount_minor, currency, status)
    values ('T', '${world.merchant.partyId}', ${wallets}, now(), 999999999999, 'RUB', 'succeeded');
    insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
    select 'T', sequence, 'transfer', '${world.merchant.partyId}', now(), '[]' from generate_series(1, 2) as sequence;
    insert into ledger_transfer (aggregate_id, operation_id, step, phase, completes_pending, debit_account, debit_shard, credit_account,
      credit_shard, posted_minor, pending_minor, happened_at)
    values ('T', 'transfer', 'transfer', 'single', false, ${accounts}, 999999999999, 0, now());
    update ledger_balance set debits_posted = debits_posted + 999999999999
    where account_id = 'test:RUB:wallet.own:${world.otherWallet}';
    update ledger_balance set credits_posted = credits_posted + 999999999999
    where account_id = 'test:RUB:wallet.own:${world.wallet}'`;
}
