// What the upgrade from 0.2.0 makes of payout limits, of what was counted towards them, and of payouts that were pending.
import { expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../../src/platform/database/migrate.ts';
import type { DatabasePool } from '../../../src/platform/database/database.ts';
import { readPayoutTerms } from '../../../src/payouts/store/payout-terms.ts';
import { findWithdrawal } from '../../../src/payouts/store/withdrawals.ts';
import { limitsIn } from '../../../src/wallets/domain/payout-limits.ts';
import { migrateFirst, migrationText } from '../../support/database/first-migrations.ts';
import { createTestDatabase } from '../../support/database/test-database.ts';
import { setPayoutLimits } from '../../support/worlds/payout-limits.ts';
import { startPayoutWorld } from '../../support/worlds/payout-world.ts';

const lastOf020 = 3;

/** Two wallets of one identity, payouts to a card in every state, and limits for two levels, as 0.2.0 wrote them. */
const rowsOf020 = `
insert into wallet (wallet_id, party_id, identity_id, name, currency, created_at) values
  ('W1', 'P', 'I', 'One', 'RUB', now()), ('W2', 'P', 'I', 'Two', 'RUB', now());
insert into payout_limit (party_id, level, currency, per_payout_minor, per_day_minor, per_month_minor, payouts_per_day) values
  ('P', 'anonymous', 'RUB', 1500000, 4000000, 6000000, null), ('P', 'identified', 'KWD', null, null, null, 3);
insert into payout_turnover (wallet_id, period, amount_minor, payouts)
  select wallet_id, to_char(now() at time zone 'UTC', form), amount, payouts
  from (values ('W1', 5000, 3), ('W2', 70, 1)) as counted (wallet_id, amount, payouts),
    (values ('YYYY-MM'), ('YYYY-MM-DD')) as period (form)
  union all select 'W1', '2020-01', 999, 9;
insert into card (card_id, party_id, session_id, stored_at, valid_until, payment_system, mask, client_info, ciphertext, key_version,
    fingerprint, fingerprint_key_version, match_hash)
  values ('C', 'P', 'S', now(), now(), 'visa', '424242******4242', '{}', '', 1, '\\xc0de', 1, '');
insert into destination (destination_id, party_id, identity_id, version, name, currency, status, created_at, card_token, card)
  values ('D', 'P', 'I', 1, 'Card', 'RUB', 'authorized', now(), 'r1.C', '{}');
insert into withdrawal (withdrawal_id, party_id, wallet_id, destination_id, identity_id, version, status, created_at, amount_minor,
    fee_minor, currency, terms, result)
  select id, 'P', wallet, 'D', 'I', 1, status, now(), amount, 0, 'RUB',
    json_build_object('walletPartyId', 'P', 'cardToken', 'r1.C', 'isCounted', is_counted, 'metadata', '{"b":1,"a":1.0}'::json), result
  from (values
    ('paid', 'W1', 2000, 'succeeded', true, '{"reference":"1"}'::json), ('lost', 'W1', 100, 'failed', true, '{"failure":["x"]}'),
    ('pending', 'W1', 3000, 'sending', true, null), ('second', 'W2', 70, 'sending', true, null),
    ('uncounted', 'W2', 9, 'sending', false, null)) as made (id, wallet, amount, status, is_counted, result);
insert into withdrawal (withdrawal_id, party_id, wallet_id, destination_id, identity_id, version, status, created_at, amount_minor,
    fee_minor, currency, terms)
  select 'ancient', party_id, wallet_id, destination_id, identity_id, 1, status, '2020-01-05', 7, 0, currency, terms
  from withdrawal where withdrawal_id = 'pending';`;

async function upgraded(): Promise<DatabasePool> {
  const { database, drop } = await createTestDatabase('empty');
  onTestFinished(drop);
  await migrateFirst(database, lastOf020);
  await database.withClient((client) => client.query(rowsOf020));
  expect((await migrate(database))[0]).toMatch(/^0004/);
  return database;
}

test('limits of 0.2.0 become rows that the same payouts find', async () => {
  const { limits } = await readPayoutTerms(await upgraded(), 'P');
  const of = (level: 'anonymous' | 'partial' | 'identified', currency: string) =>
    limitsIn(limits, { level, currency, network: 'visa' });
  expect(of('anonymous', 'RUB')).toEqual({
    minMinor: 100n,
    perPayoutMinor: 1_500_000n,
    perDayMinor: 4_000_000n,
    perMonthMinor: 6_000_000n,
  });
  expect(of('identified', 'KWD')).toEqual({ minMinor: 100n, payoutsPerDay: 3n });
  expect([of('partial', 'RUB'), of('anonymous', 'KWD')]).toEqual([undefined, undefined]);
  expect(limits.map(({ source }) => [source.setBy, source.reason])).toEqual([
    ['migration', 'set before this version'],
    ['migration', 'set before this version'],
  ]);
});

test('what wallets had paid out counts for their identity and the card', async () => {
  const database = await upgraded();
  const { rows } = await database.withClient((client) =>
    client.query(
      `select subject, currency, length(period) as length, amount_minor::int as amount, payouts::int as payouts
       from payout_usage order by subject, length`,
    ),
  );
  const both = (subject: string, amount: number, payouts: number) =>
    [7, 10].map((length) => ({ subject, currency: 'RUB', length, amount, payouts }));
  expect(rows).toEqual([...both('card:c0de', 5_070, 3), ...both('identity:I', 5_070, 4)]);
});

test('a pending payout of 0.2.0 knows the counters that its share was copied into', async () => {
  const database = await upgraded();
  const found = await Promise.all(
    ['pending', 'second', 'paid', 'lost', 'uncounted', 'ancient'].map(async (id) => {
      const { withdrawal } = (await findWithdrawal(database, null, id))!;
      return [id, withdrawal.countedFor, JSON.stringify(withdrawal.metadata)];
    }),
  );
  const counters = ['identity:I', 'card:c0de'];
  const metadata = '{"b":1,"a":1}';
  expect(found).toEqual([
    ['pending', counters, metadata],
    ['second', counters, metadata],
    ['paid', undefined, metadata],
    ['lost', undefined, metadata],
    ['uncounted', undefined, metadata],
    ['ancient', undefined, metadata],
  ]);
});

test('a payout that was pending at the upgrade gives its share back when it fails', async () => {
  const world = await startPayoutWorld();
  onTestFinished(() => world.close());
  const { service, merchant } = world;
  const { id: destination } = await world.destinationFor('4111110000000112');
  await setPayoutLimits(service, merchant.partyId, { perDayMinor: 5_000n });
  const pay = async () => {
    world.bank.faults.order({ kind: 'not-done', next: 1, operationKind: 'payout' });
    const { body } = await world.withdraw(2_000, destination);
    await service.jobs.whenIdle();
    return body.id as string;
  };
  const usage = async () => {
    const { rows } = await service.database.withClient((client) =>
      client.query('select distinct amount_minor::int as amount, payouts::int as payouts from payout_usage'),
    );
    return rows;
  };

  const before = await pay();
  service.clock.advance(500);
  const appliedAt = service.clock.now();
  const after = await pay();
  await service.testDatabase.database.withClient(async (client) => {
    // As an older version wrote them: the first one before the counters began, the second one by an old node after it.
    await client.query(
      `update withdrawal set terms = (terms::jsonb - 'countedFor')::json where withdrawal_id = any($1)`,
      [[before, after]],
    );
    await client.query('update payout_usage set amount_minor = 2000, payouts = 1');
    await client.query(`update migration set applied_at = $1 where name = '0008_payouts.sql'`, [appliedAt]);
    await client.query(await migrationText('_pending_payouts.sql'));
  });
  expect(await usage()).toEqual([{ amount: 2_000, payouts: 1 }]);

  service.clock.advance(60_000);
  service.jobs.wake();
  await service.jobs.whenIdle();
  for (const id of [before, after])
    expect((await world.get(`/wallet/v0/withdrawals/${id}`)).body.status).toBe('Failed');
  expect(await usage()).toEqual([{ amount: 0, payouts: 0 }]);
});
