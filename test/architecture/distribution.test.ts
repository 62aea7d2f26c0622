// The tables can be partitioned by the ID of their aggregates. The test partitions them that way: PostgreSQL accepts
// every unique constraint, each statement names its rows, and everything works.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { settledFindings } from '../../simulation/checks/index.ts';
import { parseInstant } from '../../src/clock.ts';
import type { Statement } from '../../src/platform/database/statement.ts';
import { purgeWebhooks } from '../../src/webhooks/inspection/inspection.store.ts';
import { differences } from '../support/checks/ledger-check.ts';
import { partitions, partitionSchema } from '../support/database/partitioned-schema.ts';
import { checkWorldOf, startSmallWorld, type SmallWorld } from '../support/worlds/small-world.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { tablesLookedThrough, watchParts, type Seen } from './carried-keys.ts';
import { distributedBy, keptWhole, uniqueOtherwise } from './distribution.ts';

/** Statements that read every partition of a table, and why they may. All others name their rows. */
const knownToLookThrough: readonly (readonly [why: string, statements: readonly string[]])[] = [
  [
    'due jobs everywhere, by the index that each partition has',
    [
      'invoice',
      'payment',
      'charge_undo',
      'binding',
      'card',
      'series',
      'payer_email',
      'subscription',
      'destination',
      'withdrawal',
    ].flatMap((table) => [
      ...['', '_8', '_4', '_3', '_2', '_1', '_of_party'].map((which) => `claim_due_${table}${which}`),
      `stuck_${table}`,
      `failing_${table}`,
    ]),
  ],
  [
    'due exports everywhere; those of a party are in one partition',
    [
      ...['', '_8', '_4', '_3', '_2', '_1'].map((which) => `claim_due_export${which}`),
      'stuck_export',
      'failing_export',
    ],
  ],
  ['what banks reported on their own; few', ['count_open_notes']],
  [
    'rows in the order of their keys, in portions',
    ['find_next_day_to_sum', 'read_portion_to_list', 'read_portion_to_search', 'retire_exchange'],
  ],
  ['what every module expects of one aggregate', ['find_expected_operation']],
  ['in a sandbox alone: whether other parties use the terminals of one', ['read_terminals_of_party']],
  ['where the clock of a party stops next', ['earliest_due_of_party']],
  [
    'the log as one stream, and the webhook queues that a delivery worker claims by the hundred',
    [
      'claim_webhook_queues',
      'read_new_events',
      'read_changed_for_lists',
      'read_changed_for_searches',
      'read_replay_cursor',
      'read_search_freshness',
      'read_search_list_freshness',
      'read_replayed_stretch',
      'read_webhook_feed',
      'write_webhook_queues',
    ],
  ],
  [
    'a periodic task once a minute, or a gauge; IDs of keys once a second while keys are made up',
    [
      'list_key_ids',
      'advance_ledger_watermark',
      'count_exchanges',
      'count_paused_terminals',
      'count_pending_refunds',
      'count_parked_webhook_queues',
      'count_unbalanced',
      'count_due_subscriptions',
      'count_waiting_subscriptions',
      'delete_exchange_sums',
      'delete_expired_security_codes',
      'delete_late_exchanges',
      'delete_old_payer_attempts',
      'delete_old_shop_guards',
      'delete_old_shop_outcomes',
      'delete_unretained_cards',
      'find_due',
      'find_due_on_clocks',
      'forget_idempotency_keys',
      'forget_ledger_checkpoint',
      'read_late_exchange_hours',
      'read_oldest_pending_refund',
      'read_oldest_unseen_of_lists',
      'read_oldest_unseen_of_searches',
      'read_oldest_sending_withdrawal',
      'read_oldest_unknown_payment',
      'read_declined_shops',
      'read_shop_guards',
      'read_webhook_lags',
      'resume_stuck_refunds',
      'purge_console_sessions',
      'purge_webhook_attempts',
      'purge_webhook_messages',
      'purge_webhook_queues',
    ],
  ],
  [
    'the whole ledger, and a bank’s transaction report',
    [
      ...[
        'i1',
        'i2',
        'i3',
        'i4',
        'i5',
        'i6',
        'i7',
        'i8',
        'i9',
        'i9a',
        'b1',
        'b2',
        'p1',
        'p2',
        'p3',
        'w1',
        'w2',
        'w3',
      ].map((name) => `find_broken_${name}`),
      'compare_with_bank',
      'find_end_of_reconciliation_page',
    ],
  ],
  ['what a sandbox forgets when it is asked to', ['delete_all_payer_attempts']],
  [
    'what an operator purges, portion by portion',
    ['retire_card_decline', 'retire_payout_grant', 'retire_webhook_queue'],
  ],
  [
    'a list, of a party or for an operator',
    [
      'delete_bank',
      'list_api_keys',
      'list_banks',
      'list_console_sessions',
      'list_destinations',
      'list_identities',
      'list_invoice_templates',
      'list_newest_payments',
      'read_exchange_sums',
      'list_subscriptions_of_customer',
      'list_subscriptions_of_shop',
      'list_parked_subscriptions',
      'list_pending_refunds',
      'list_parties',
      'list_waiting_payments',
      'list_wallets',
      'read_open_wallet_grants',
      'read_modes',
      'read_webhook_queues',
    ],
  ],
  [
    'the queue of a shop’s refunds, with a row only for each that waits',
    ['count_waiting_refunds', 'read_first_waiting_refund', 'wake_first_waiting_refund'],
  ],
  ['by operation, among the few reports of banks, for an operator', ['read_exchange_notes_about']],
  ['all subscriptions of a customer, which one consent covers', ['find_largest_charge_of_customer']],
  ['by the card and not by its customer: how often it was bound', ['read_earlier_bindings']],
  ['by the card and not by its customer: all its series are stopped', ['insert_card_stop']],
  [
    'the webhooks of a party, cached for a second; how many it has',
    ['insert_webhook', 'read_webhooks_of_parties'],
  ],
  ['the destinations of cards that an operator re-encrypts', ['read_cards_of_destinations']],
  ['what an operator says once after a restore, before a node runs', ['doubt_sends_of_withdrawals']],
  ['a deleted card, whose external ID belongs to the party', ['delete_retained_card']],
];

/** The statements of a charge, a binding, a payout and their reads: each reads one partition of each table, the one with its rows. */
const hot = [
  'insert_invoice',
  'read_payable_invoice',
  'insert_card',
  'insert_payment',
  'read_payment',
  'take_card_and_security_code',
  'read_encrypted_card',
  'change_payment',
  'start_refund',
  'end_refund',
  'read_series',
  'read_charge_history',
  'start_charge',
  'approve_charge',
  'end_payer_email',
  'insert_customer',
  'insert_binding',
  'change_binding',
  'insert_withdrawal',
  'end_withdrawal',
  'insert_wallet_transfer',
];

describe('in the plans', () => {
  let db: TestDatabase;
  let statements: readonly Statement[];
  beforeAll(async () => {
    db = await createTestDatabase('partitioned');
    statements = await statementsOfTheProgram();
  });
  afterAll(() => db.drop());

  test('every statement but the known ones names its rows in each table', async () => {
    const found = await db.database.withClient(async (client) => {
      const lookingThrough: string[] = [];
      for (const statement of statements)
        if ((await tablesLookedThrough(client, statement)).length > 0) lookingThrough.push(statement.name);
      return lookingThrough;
    });
    expect(found.sort()).toEqual(knownToLookThrough.flatMap(([, names]) => names).sort());
  });

  test.each([
    ['select from payment where invoice_id = $1::text', []],
    ['select from payment where payment_id = $1::text', ['payment']],
    ['select from payment join invoice using (invoice_id) where invoice_id = $1::text', []],
    ['select from payment join invoice using (invoice_id) where invoice.party_id = $1::text', ['invoice']],
    [
      'update refund set reason = null from payment where refund.payment_id = payment.payment_id',
      ['payment', 'refund'],
    ],
  ])('a statement without a key is found: %s', async (text, tables) => {
    const control = { name: 'control', text, parameterNames: [], parameters: {}, row: {}, codecs: [] };
    expect(await db.database.withClient((client) => tablesLookedThrough(client, control))).toEqual(tables);
  });

  test('a unique constraint without the ID is refused, and so is a table without a rule', async () => {
    const after = async (change: string) => {
      const other = await createTestDatabase();
      try {
        await other.database.withClient(async (client) => {
          await client.query(change);
          await partitionSchema(client);
        });
      } finally {
        await other.drop();
      }
    };
    await expect(after('alter table payment add unique (payment_id)')).rejects.toThrow(/unique constraint/);
    await expect(after('create unique index one on payment (payment_id)')).rejects.toThrow(
      /unique constraint/,
    );
    await expect(after('create table extra (extra_id id primary key)')).rejects.toThrow(/by what extra is/);
  });

  test('the lists of tables and constraints name only what exists', async () => {
    const whole = await createTestDatabase();
    try {
      const { rows } = await whole.database.withClient((client) =>
        client.query<{ tables: string[]; constraints: string[] }>(`select
          to_json(array(select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r')) as tables,
          to_json(array(select conname from pg_constraint where connamespace = 'public'::regnamespace)) as constraints`),
      );
      const [{ tables, constraints }] = rows as [(typeof rows)[number]];
      expect(Object.keys(distributedBy).sort()).toEqual(tables.sort());
      expect(keptWhole.filter((name) => !(name in distributedBy))).toEqual([]);
      expect(Object.keys(uniqueOtherwise).filter((name) => !constraints.includes(name))).toEqual([]);
    } finally {
      await whole.drop();
    }
  });
});

describe('in use', () => {
  let world: SmallWorld;
  let seen: Seen;
  beforeAll(async () => {
    const database = await createTestDatabase('partitioned');
    seen = watchParts(database.database, [...hot, 'claim_due_payer_email']);
    world = await startSmallWorld(database);
    // Due jobs, such as an email, run at the next poll, and here no timer polls.
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
  });
  afterAll(() => world.close());

  const query = async (text: string, values?: unknown[]) =>
    (await world.service.database.withClient((client) => client.query(text, values))).rows;

  test('payments, refunds, recurring charges, bindings, payouts and webhooks are right', async () => {
    const { sold, service, merchant } = world;
    expect(await world.payment(sold)).toMatchObject({ status: 'captured' });
    const path = `/v2/processing/customers/${world.customer}`;
    expect((await service.call('GET', path, { token: merchant.apiKey })).body).toMatchObject({
      status: 'ready',
    });
    expect(world.received.length).toBeGreaterThan(10);
    expect(await settledFindings(checkWorldOf(query, world))).toEqual([]);
    expect(await differences(service.database, world.entries as never)).toEqual([]);
  });

  test('a frequent statement reads one partition of each table', () => {
    const most = hot.map((name) => [name, Math.max(0, ...(seen.get(name)?.values() ?? [Infinity]))] as const);
    expect(most.filter(([, parts]) => parts > 1)).toEqual([]);
    // The control: due jobs are searched in every partition.
    expect(seen.get('claim_due_payer_email')?.get('payer_email')).toBe(partitions);
  });

  test('old deliveries are purged by their keys, and no row of another partition', async () => {
    const { database } = world.service;
    await query('truncate webhook_attempt, webhook_message');
    await query(`insert into webhook_attempt (webhook_id, attempted_at, aggregate_id, position, attempt, event_type, duration_ms)
      select 'W' || n, date '2026-01-01' + n % 2, 'A' || n, 8, 1, 'InvoicePaid', 1 from generate_series(1, 40) as n`);
    await query(`insert into webhook_message (aggregate_id, position, body, created_at)
      select 'A' || n, 8, '{}', date '2026-01-01' + n % 2 from generate_series(1, 40) as n`);
    await purgeWebhooks(database, parseInstant('2026-01-01T12:00:00Z')!);
    expect(
      await query('select count(*)::int as n, min(attempted_at)::text as first from webhook_attempt'),
    ).toEqual([{ n: 20, first: '2026-01-02 00:00:00+00' }]);
    expect(
      await query('select count(*)::int as n, min(created_at)::text as first from webhook_message'),
    ).toEqual([{ n: 20, first: '2026-01-02 00:00:00+00' }]);
  });

  test('the rows really lie in several partitions', async () => {
    for (const table of ['event', 'invoice', 'ledger_transfer', 'webhook_queue']) {
      const [row] = await query(`select count(distinct tableoid)::int as parts from ${table}`);
      expect(row).toEqual({ parts: expect.toSatisfy((parts: number) => parts > 1 && parts <= partitions) });
    }
  });
});

/** With fresh modules, only the statements of the program exist. */
async function statementsOfTheProgram(): Promise<readonly Statement[]> {
  vi.resetModules();
  await import('../../src/app/sources/reconciliation-sources.ts');
  await import('../../src/app/purges.ts');
  await import('../../src/payments/store/job-overview.ts');
  const { startTestService } = await import('../support/service/test-service.ts');
  const { allStatements } = await import('../../src/platform/database/statement.ts');
  await (await startTestService()).close();
  return allStatements();
}
