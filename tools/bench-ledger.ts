// How many journals a second the ledger writes, on a private PostgreSQL that really syncs to disk: one busy shop and a hundred,
// with balances spread over shards and without, each beside a bare transaction of one row. The machine matters more
// than the code, so only the ratios of one run mean anything. `npx tsx tools/bench-ledger.ts`, half a minute.
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../src/clock.ts';
import { openDatabase, type Database } from '../src/platform/database/database.ts';
import { startEmbedded } from '../src/sandbox/postgres/server.ts';
import { migrate } from '../src/platform/database/migrate.ts';
import { statement } from '../src/platform/database/statement.ts';
import { randomIds } from '../src/ids.ts';
import { accountsIn } from '../src/platform/ledger/domain/ledger.ts';
import { postJournal, spreadAccount } from '../src/platform/ledger/store/journals.ts';
import { saleApproved, type LedgerPayment } from '../src/platform/ledger/domain/postings.ts';
import type { Currency, Money } from '../src/money.ts';
import { temporaryFolder } from '../test/support/test-cluster.ts';
import { readOptions } from './script-options.ts';

readOptions(
  `npm run bench:ledger: how many journals a second the ledger writes. Half a minute; it takes no options.`,
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
type Contender = {
  readonly name: string;
  readonly write: (db: Database) => Promise<unknown>;
  latenciesMs: number[];
};

const { folder, remove } = temporaryFolder();
const server = await startEmbedded({ dataFolder: folder, log: () => {}, machine: { openFolder: folder } });
const db = openDatabase({ connection: server.connection, maxConnections: clients });
try {
  await migrate(db);
  await db.withClient((client) => client.query('create table bare (bare_id text primary key)'));
  // Each contender keeps to accounts of its own: fee accounts are one for each currency.
  const contenders: Contender[] = [
    contender('bare transaction of one row', (tx) => tx.run(insertBareRow, { bare_id: randomIds.next() })),
    await sales('100 shops, shards', 100, 'RUB', 'spread'),
    await sales('1 shop, shards', 1, 'USD', 'spread'),
    await sales('100 shops, one row an account', 100, 'EUR', 'one row'),
    await sales('1 shop, one row an account', 1, 'GBP', 'one row'),
  ];
  for (let round = 0; round < rounds; round++) {
    for (const one of contenders) await race(one);
  }
  print(contenders);
} finally {
  await db.end();
  await server.stop();
  await remove();
}

function contender(name: string, write: (db: Database) => Promise<unknown>): Contender {
  return { name, write, latenciesMs: [] };
}

async function sales(
  name: string,
  shops: number,
  currency: string,
  rows: 'spread' | 'one row',
): Promise<Contender> {
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
      for (const { id } of accountsIn(first)) await spreadAccount(tx, id, 0);
    }
  });
  let next = 0;
  return contender(name, (tx) => {
    const shop = all[next++ % all.length];
    if (!shop) throw new Error('there are no shops');
    return postJournal(tx, sale(shop, money), systemClock.now());
  });
}

function sale(shop: Shop, amount: Money) {
  return saleApproved({ ...shop, invoiceId: randomIds.next(), paymentId: '1' }, amount, 2_500n);
}

async function race({ write, latenciesMs }: Contender): Promise<void> {
  const end = performance.now() + roundMs;
  const client = async () => {
    for (let start = performance.now(); start < end; start = performance.now()) {
      await db.transaction(write);
      latenciesMs.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  await sleep(100); // what the server still flushes is not the next one's
}

function print(contenders: readonly Contender[]): void {
  const perSecond = contenders.map(({ latenciesMs }) => latenciesMs.length / ((rounds * roundMs) / 1000));
  const [floor = 1] = perSecond;
  console.log(`${clients} clients, ${rounds} rounds of ${roundMs} ms each\n`);
  console.log(
    '| | transactions/s | of the bare one | p50 ms | p99 ms |\n| --- | ---: | ---: | ---: | ---: |',
  );
  for (const [index, { name, latenciesMs }] of contenders.entries()) {
    const sorted = latenciesMs.toSorted((a, b) => a - b);
    const quantile = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
    const rate = perSecond[index] ?? 0;
    console.log(
      `| ${name} | ${rate.toFixed(0)} | ${((100 * rate) / floor).toFixed(0)} % | ${quantile(0.5)} | ${quantile(0.99)} |`,
    );
  }
  const [, hundred = 1, hot = 0, hundredFlat = 1, hotFlat = 1] = perSecond;
  console.log(`\none busy shop against a hundred: ${(hot / hundred).toFixed(2)} with shards`);
  console.log(
    `shards against one row: ${(hot / hotFlat).toFixed(2)} for one shop, ${(hundred / hundredFlat).toFixed(2)} for a hundred`,
  );
}
