// Each check, tried on a world that is right and on the same world with one thing wrong in it, planted as no program of ours
// would do it: the check finds that, and no other check finds anything that it should not.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkWorldOf, startSmallWorld, type SmallWorld } from '../../test/support/worlds/small-world.ts';
import { makeInvoice } from '../../test/support/worlds/invoices.ts';
import { incremental, settledFindings, whole, type CheckWorld, type Finding } from './index.ts';

let world: SmallWorld;
beforeAll(async () => {
  world = await startSmallWorld();
});
afterAll(() => world.close());

type Changes = { readonly sql?: string; readonly told?: Partial<Parameters<typeof checkWorldOf>[1]> };

/** What is found while the world is changed so; then it is as it was. */
async function found(
  { sql, told = {} }: Changes,
  look: (seen: CheckWorld) => Promise<Finding[]> = settledFindings,
): Promise<Finding[]> {
  return world.service.database.withClient(async (client) => {
    await client.query('begin');
    try {
      for (const table of ['event', 'ledger_transfer', 'ledger_account'])
        await client.query(`alter table ${table} disable trigger user`);
      await client.query('alter table ledger_balance drop constraint ledger_balance_no_overdraft');
      if (sql !== undefined) await client.query(sql);
      const query = async (text: string, values?: unknown[]) => (await client.query(text, values)).rows;
      return await look(checkWorldOf(query, { ...world, ...told }));
    } finally {
      await client.query('rollback');
    }
  });
}

test('nothing is found in a world that is right, whole, settled or step by step', async () => {
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

/** The first answer once more, under one key: as it was, or with something else in it. */
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
/** The second answer comes before the first, and says that it is too early. */
const tooEarlyBefore = (status: number, body: object) => {
  const { acknowledged } = again({}, '2026-01-20T10:00:00.000Z');
  return { acknowledged: acknowledged.toSpliced(-2, 1, { ...acknowledged.at(-2)!, status, body }) };
};
/** Everything the bank has done, asked for when those transactions had ended. */
const askedAt = (snapshot: string) => ({
  asked: world.entries.map(({ operationId }) => ({ operationId, snapshot })),
});
const everythingCommitted = '9000000000:9000000000:';
const nothingCommitted = '3:3:';

test('an answer that is the same, and one under a key that is forgotten, are not wrong', async () => {
  expect(await found({ told: again({}, '2026-01-20T10:00:00.000Z') })).toEqual([]);
  expect(await found({ told: again({ other: 1 }, '2026-01-26T10:00:00.000Z') })).toEqual([]);
});

test('an answer for now, and then another, are not wrong', async () => {
  const retryAfter = '2026-01-20T00:00:00.000000Z';
  expect(await found({ told: tooEarlyBefore(429, { message: 'x' }) })).toEqual([]);
  expect(await found({ told: tooEarlyBefore(422, { message: 'x', retryAfter }) })).toEqual([]);
});

test('the bank may be asked for whatever was committed', async () => {
  expect(await found({ told: askedAt(everythingCommitted) })).toEqual([]);
  const kinds = new Set(world.entries.map(({ kind }) => kind));
  expect(kinds).toEqual(new Set(['authorise', 'capture', 'reverse', 'refund', 'payout']));
  const early = await found({ told: askedAt(nothingCommitted) });
  expect(early).toHaveLength(world.entries.length);
  expect(new Set(early.map(({ check }) => check))).toEqual(new Set(['durable']));
});

test('a notice before all that was told is wrong, unless the queue was put back', async () => {
  const { received } = world;
  const first = received.find((one) => earlierOf(received) === one)!;
  const place = received.indexOf(first);
  const replayed = [...received.slice(0, place), ...received.slice(place + 1), ...received.slice(place)];
  const told = { received: replayed };
  expect(new Set((await found({ told })).map(({ check }) => check))).toEqual(new Set(['webhooks']));
  expect(await found({ told, sql: 'update webhook_queue set rewinds = 1' })).toEqual([]);
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
  ['a transfer between wallets of more than there is', ['floors'], () => ({ sql: overdraw() })],
  [
    'a post of another sum than was pending',
    ['transfers', 'balances', 'postings'],
    () => ({
      sql: `alter table ledger_transfer drop constraint ledger_transfer_check1;
        update ledger_transfer set posted_minor = 9000 where aggregate_id = '${world.shipped.id}' and phase = 'post'`,
    }),
  ],
  [
    'a fee nobody took',
    ['postings'],
    () => ({
      sql: `update payment set terms = jsonb_set(terms::jsonb, '{fees}', '{"processing": {"basisPoints": 100, "fixedMinor": 0}}')::json
        where invoice_id = '${world.sold.id}'`,
    }),
  ],
  [
    'an open hold of what was cancelled',
    ['postings', 'balances'],
    () => ({
      sql: `delete from ledger_transfer where aggregate_id = '${world.released.id}' and phase = 'void'`,
    }),
  ],
  [
    'an invoice that stays busy',
    ['invoices'],
    () => ({ sql: `update invoice set payment_in_progress = true where invoice_id = '${world.sold.id}'` }),
  ],
  [
    'a fact that could not follow',
    ['moves'],
    () => ({
      sql: `update event set facts = replace(facts::text, 'payment_cancel_started', 'payment_rerouted')::json
        where aggregate_id = '${world.released.id}'`,
      told: { acknowledged: [] },
    }),
  ],
  [
    'an event too few',
    ['events'],
    () => ({
      sql: `delete from event where aggregate_id = '${world.shipped.id}' and facts::text like '%capture_started%'`,
      told: { acknowledged: [] },
    }),
  ],
  [
    'an event before the one before it',
    ['times'],
    () => ({
      sql: `update event set created_at = created_at - interval '1 day'
        where aggregate_id = '${world.shipped.id}' and facts::text like '%capture_started%'`,
    }),
  ],
  [
    'a transfer at a time of no event',
    ['times'],
    () => ({
      sql: `update ledger_transfer set happened_at = happened_at + interval '1 day'
        where aggregate_id = '${world.shipped.id}' and phase = 'post'`,
    }),
  ],
  [
    'a hold that ends before it stands',
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
    'a row that moved without an event',
    ['events'],
    () => ({ sql: `update invoice set version = version + 1 where invoice_id = '${world.sold.id}'` }),
  ],
  [
    'a kopeck more at the bank',
    ['bank'],
    () => ({ told: another({ amount: world.entries[0]!.amount + 1 }) }),
  ],
  [
    'a line the bank lacks',
    ['bank'],
    () => ({ told: { entries: world.entries.filter(({ kind }) => kind !== 'payout') } }),
  ],
  [
    'a charge of nobody',
    ['bank'],
    () => ({ told: { entries: [...world.entries, { ...world.entries[0]!, operationId: 'stranger.1.a' }] } }),
  ],
  [
    'a line the bank has twice',
    ['bank', 'doubles'],
    () => ({ told: { entries: [...world.entries, world.entries[0]!] } }),
  ],
  [
    'a final state that was shown and is another now',
    ['acknowledged'],
    () => ({
      told: answered('GET', `/v2/processing/invoices/${world.sold.id}/payments/1`, {
        id: '1',
        status: 'failed',
      }),
    }),
  ],
  [
    'a payment somebody was promised',
    ['acknowledged'],
    () => ({
      told: answered('POST', `/v2/processing/invoices/${world.sold.id}/payments`, {
        id: '2',
        status: 'pending',
      }),
    }),
  ],
  [
    'another answer under one key',
    ['repeats'],
    () => ({ told: again({ other: 1 }, '2026-01-20T10:00:00.000Z') }),
  ],
  [
    'a charge of which the log knows nothing',
    ['durable'],
    () => ({ told: { asked: [{ operationId: `${world.sold.id}.2.a`, snapshot: everythingCommitted }] } }),
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
    'something that waits for an operator',
    ['final'],
    () => ({ sql: `update payment set stuck_at = now() where invoice_id = '${world.sold.id}'` }),
  ],
  ['a notice that never came', ['webhooks'], () => ({ told: { received: world.received.slice(1) } })],
  [
    'a notice again after a later one',
    ['webhooks'],
    () => ({ told: { received: [...world.received, earlierOf(world.received)] } }),
  ],
  ['notices in another order', ['webhooks'], () => ({ told: { received: world.received.toReversed() } })],
  [
    'a notice in two versions',
    ['webhooks'],
    () => ({
      told: {
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

test('what has changed since the last look is found by the next, and what has not is not read again', async () => {
  const { database } = world.service;
  await database.withClient(async (another) => {
    // Whoever works in another database of the same cluster may have begun before the latest event, and be at it still.
    await another.query('begin');
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

/** A notice after which the same receiver had another one of the same invoice. */
function earlierOf(received: SmallWorld['received']): SmallWorld['received'][number] {
  const queueOf = ({ webhookID, body }: (typeof received)[number]) =>
    `${webhookID} ${(body as { invoice?: { id: string } }).invoice?.id}`;
  const found = received.find((one, place) =>
    received.some((other, later) => later > place && queueOf(other) === queueOf(one)),
  );
  if (!found) throw new Error('nobody was told twice of the same');
  return found;
}

/** A transfer with all that belongs to it, of money the wallet does not have. */
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
