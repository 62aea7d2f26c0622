// npm run bench:ledger: compares journals of one shop and of 100, with balance shards and without, with a transaction of one row.
import { systemClock } from '../src/clock.ts';
import type { Database } from '../src/platform/database/database.ts';
import { statement } from '../src/platform/database/statement.ts';
import { randomIds } from '../src/ids.ts';
import { accountsIn } from '../src/platform/ledger/domain/ledger.ts';
import { shardAccount } from '../src/platform/ledger/store/journals.ts';
import { saleApproved, type LedgerPayment } from '../src/payments/domain/payment-postings.ts';
import type { Currency, Money } from '../src/money.ts';
import { postJournal } from '../test/support/database/post-journal.ts';
import { compare, type Alternative } from './harness/compare.ts';
import { openPrivateDatabase } from './harness/private-database.ts';
import { readOptions } from '../tools/script-options.ts';

readOptions(
  `npm run bench:ledger
Measures journals per second, on a PostgreSQL that syncs to disk. It takes half a minute and no options.
Compare only the ratios of one run: the machine matters more than the code.
Example: npm run bench:ledger`,
);

const clients = 16;
const rounds = 2;
const roundMs = 1_300;

const insertBareRow = statement({
  name: 'bench_insert_bare_row',
  parameters: { bare_id: 'text' },
  row: {},
  text: 'insert into bare (bare_id) values (:bare_id)',
});

type Shop = Pick<LedgerPayment, 'livemode' | 'partyId' | 'shopId' | 'acquirerId'>;

const { db, close } = await openPrivateDatabase({ connections: clients });
try {
  await db.withClient((client) => client.query('create table bare (bare_id text primary key)'));
  // A currency for each case keeps their accounts apart: there is one fee account per currency.
  const alternatives: Alternative[] = [
    alternative('bare transaction of one row', (tx) => tx.run(insertBareRow, { bare_id: randomIds.next() })),
    await sales('100 shops, shards', 100, 'RUB', 'spread'),
    await sales('1 shop, shards', 1, 'USD', 'spread'),
    await sales('100 shops, one row per account', 100, 'EUR', 'one row'),
    await sales('1 shop, one row per account', 1, 'GBP', 'one row'),
  ];
  const rates = await compare(
    alternatives,
    { clients, rounds, roundMs },
    { unit: 'transactions', first: 'the bare one' },
  );
  const [, hundred = 1, hot = 0, hundredFlat = 1, hotFlat = 1] = rates;
  console.log(`\none shop against 100: ${(hot / hundred).toFixed(2)} with shards`);
  console.log(
    `shards against one row: ${(hot / hotFlat).toFixed(2)} for one shop, ${(hundred / hundredFlat).toFixed(2)} for 100`,
  );
} finally {
  await close();
}

function alternative(name: string, write: (db: Database) => Promise<unknown>): Alternative {
  return { name, work: () => db.transaction(write) };
}

async function sales(
  name: string,
  shops: number,
  currency: string,
  rows: 'spread' | 'one row',
): Promise<Alternative> {
  const money: Money = { minor: 100_000n, currency: currency as Currency };
  const all: Shop[] = Array.from({ length: shops }, () => ({
    livemode: false,
    partyId: randomIds.next(),
    shopId: 'TEST',
    acquirerId: currency,
  }));
  await db.transaction(async (tx) => {
    for (const shop of all) {
      const first = sale(shop, money);
      await postJournal(tx, first, systemClock.now());
      if (rows === 'spread') continue;
      for (const { id } of accountsIn(first)) await shardAccount(tx, id, 0);
    }
  });
  let next = 0;
  return alternative(name, (tx) => {
    const shop = all[next++ % all.length];
    if (!shop) throw new Error('No shops to sell.');
    return postJournal(tx, sale(shop, money), systemClock.now());
  });
}

function sale(shop: Shop, amount: Money) {
  return saleApproved({ ...shop, invoiceId: randomIds.next(), paymentId: '1' }, amount, 2_500n);
}
