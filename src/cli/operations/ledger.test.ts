// mandate ledger: checks and accounts.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { book, newPayment, rubles } from '../../../test/support/database/ledger.ts';
import { commandLine, migrateDatabase } from '../../../test/support/processes/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
import { storeDeposit } from '../../wallets/store/wallets.ts';
import { parseInstant } from '../../clock.ts';
import { holdApproved, saleApproved, type LedgerPayment } from '../../payments/domain/payment-postings.ts';
import { depositedFromBank } from '../../wallets/domain/wallet-postings.ts';

let db: TestDatabase;
let payment: LedgerPayment;
beforeAll(async () => {
  db = await createTestDatabase();
  await migrateDatabase(environment());
  payment = newPayment();
});
afterAll(() => db.drop());

const environment = () => ({
  DATABASE_URL: db.url,
  MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
});
const run = (...args: string[]) => commandLine(['ledger', ...args], environment());

test('a check prints every invariant, and ends with 1 if one is violated', { timeout: 120_000 }, async () => {
  const deposit = { livemode: false, depositId: 'D', walletId: 'W', bankAccountId: 'B' } as const;
  const createdAt = parseInstant('2026-01-19T10:00:00Z')!;
  await storeDeposit(
    db.database,
    {
      ...deposit,
      id: 'D',
      partyId: 'P',
      identityId: 'I',
      sourceId: 'B',
      createdAt,
      amount: rubles(1_000n),
    },
    depositedFromBank(deposit, rubles(1_000n)),
  );
  const right = await run('check');
  expect(right.errors).toBe('');
  expect(right.code).toBe(0);
  expect(right.output).toMatch(/I1 +yes +1 +0 +debits equal credits/);

  await db.database.withClient((client) =>
    client.query(`update ledger_balance set credits_posted = credits_posted + 7
      where account_id = 'test:RUB:wallet.own:W'`),
  );
  const wrong = await run('check', '--recent', '--json');
  expect(wrong.code).toBe(1);
  const findings = JSON.parse(wrong.output) as {
    id: string;
    holds: boolean;
    violations: number;
    examples: unknown[];
  }[];
  const violated = findings.filter(({ holds }) => !holds);
  expect(violated.map(({ id, violations }) => [id, violations])).toEqual([
    ['I1', 1],
    ['I2', 1],
  ]);
  expect(violated[1]?.examples).toHaveLength(1);
  expect(Object.keys(findings[0]!)).toEqual(['id', 'says', 'holds', 'checked', 'violations', 'examples']);
});

test.each([
  ['its database is unavailable', [], 'postgresql://none@127.0.0.1:1/none'],
  ['an option is unknown', ['--all'], undefined],
])('a check that cannot run because %s ends with 2', async (_, more, url) => {
  const environment = {
    DATABASE_URL: url ?? db.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  expect(await commandLine(['ledger', 'check', ...more], environment)).toMatchObject({ code: 2, output: '' });
});

test('an account is shown with its balances, shards and transfers', { timeout: 120_000 }, async () => {
  await book(db.database, saleApproved(payment, rubles(1_000n), 25n));
  await book(db.database, holdApproved({ ...payment, paymentId: '2' }, rubles(70n)));
  const id = `test:RUB:merchant.settlement:${payment.partyId}:TEST`;
  expect(await run('shard', id, '--shards', '12')).toMatchObject({ code: 0, errors: '' });
  const { code, output } = await run('account', id);
  expect(code).toBe(0);
  const { output: json } = await run('account', id, '--json');
  expect(Object.keys(JSON.parse(json))).toEqual([
    'account',
    'normalBalance',
    'balance',
    'shards',
    'transfers',
  ]);
  expect(output).toMatch(/own +975\navailable +975\nmost +1045\n/);
  expect(output).toMatch(/\n12 +0 +0 +0 +0\n\n/);
  expect(output).toMatch(/debit +25 +0 +\S+ payment\/1 +fee single +test:RUB:fee.income:processing/);
  expect(output).toMatch(/credit +0 +70 +\S+ payment\/2 +hold pending +test:RUB:acq.uncleared:bank/);
});

test('a part of an ID finds accounts', { timeout: 120_000 }, async () => {
  const { code, errors } = await run('account', 'settlement');
  expect(code).toBe(1);
  expect(errors).toContain(`These IDs contain it:\n  test:RUB:merchant.settlement:${payment.partyId}:TEST`);
});

test('an ID that no account contains is refused with the way to search', { timeout: 120_000 }, async () => {
  const { code, errors } = await run('account', 'nowhere');
  expect(code).toBe(1);
  expect(errors).toContain(
    'Account nowhere not found. No ID contains it: give a part, such as the ID of the shop.',
  );
});
