// npm run bench:payouts: compares withdrawals from one wallet and from 100 with a bare transaction of one row.
import { instantAt, systemClock } from '../src/clock.ts';
import type { Database } from '../src/platform/database/database.ts';
import { statement } from '../src/platform/database/statement.ts';
import { randomIds } from '../src/ids.ts';
import type { Currency } from '../src/money.ts';
import { depositFromBank } from '../src/wallets/deposit.ts';
import { countersOf, type PayoutLimits } from '../src/wallets/domain/payout-limits.ts';
import { storeNewWithdrawal } from '../src/payouts/store/new-withdrawal.ts';
import { storeEnd } from '../src/payouts/store/withdrawals.ts';
import { compare, type Alternative } from './harness/compare.ts';
import { openPrivateDatabase } from './harness/private-database.ts';
import { readOptions } from '../tools/script-options.ts';

readOptions(
  `npm run bench:payouts
Measures withdrawals created and completed per second, on a PostgreSQL that syncs to disk. It takes a minute and no options.
Compare only the ratios of one run: the machine matters more than the code.
Example: npm run bench:payouts`,
);

const clients = 16;
const rounds = 3;
const roundMs = 1_500;

const insertBareRow = statement({
  name: 'bench_insert_bare_payout',
  parameters: { bare_id: 'text' },
  row: {},
  text: 'insert into bare (bare_id) values (:bare_id)',
});

const { db, close } = await openPrivateDatabase({ connections: clients + 2 });
try {
  await db.withClient((client) => client.query('create table bare (bare_id text primary key)'));
  const bare = () => db.transaction((tx) => tx.run(insertBareRow, { bare_id: randomIds.next() }));
  const alternatives: Alternative[] = [
    { name: 'bare transaction of one row', work: bare },
    await payouts('100 wallets', { wallets: 100, currency: 'RUB' }),
    await payouts('1 wallet', { wallets: 1, currency: 'USD' }),
    await payouts('1 wallet, with a daily limit', {
      wallets: 1,
      currency: 'EUR',
      limits: { perDayMinor: 10n ** 12n },
    }),
    await payouts('100 wallets, created and completed', { wallets: 100, currency: 'GBP', areEnded: true }),
    await payouts('1 wallet, created and completed', { wallets: 1, currency: 'CHF', areEnded: true }),
    // The upper bound for work that must run one after the other.
    { name: 'bare transactions one after the other', work: bare, clients: 1 },
  ];
  const rates = await compare(
    alternatives,
    { clients, rounds, roundMs },
    { unit: 'withdrawals', first: 'the bare one' },
  );
  const [, spread = 1, hot = 0, limited = 0, spreadEnded = 1, hotEnded = 0, oneByOne = 1] = rates;
  console.log(`\none wallet against 100: ${(hot / spread).toFixed(2)}`);
  console.log(`the same, created and completed: ${(hotEnded / spreadEnded).toFixed(2)}`);
  console.log(`one wallet against bare transactions one after the other: ${(hot / oneByOne).toFixed(2)}`);
  console.log(`with a daily limit against without: ${(limited / hot).toFixed(2)}`);
} finally {
  await close();
}

async function payouts(
  name: string,
  {
    wallets,
    currency,
    limits = {},
    areEnded = false,
  }: { wallets: number; currency: string; limits?: PayoutLimits; areEnded?: boolean },
): Promise<Alternative> {
  const owner = { partyId: randomIds.next(), identityId: randomIds.next(), name };
  const amount = { minor: 1_000n, currency: currency as Currency };
  const all = Array.from({ length: wallets }, () => randomIds.next());
  for (const id of all)
    await fill(db, { ...owner, id, currency: amount.currency, createdAt: systemClock.now() });
  const destinationId = randomIds.next();
  const terminal = { id: 'T', bankId: currency, merchantId: 'M', descriptor: 'BENCH' };
  const counters = countersOf(limits, { identityId: owner.identityId });
  let next = 0;
  const work = async () => {
    const walletId = all[next++ % all.length] ?? '';
    const id = randomIds.next();
    const terms = {
      ...owner,
      id,
      walletId,
      walletPartyId: owner.partyId,
      destinationId,
      createdAt: systemClock.now(),
      amount,
      feeMinor: 0n,
      isCounted: counters.length > 0,
      countedFor: counters.map(({ subject }) => subject),
      cardToken: 'r1.bench',
      route: { bankId: currency, terminal },
      externalId: id,
    };
    const made = await storeNewWithdrawal(
      db,
      { type: 'withdrawal_started', terms },
      {
        livemode: false,
        counters,
        fingerprint: Buffer.alloc(32),
        claim: { wake_at: instantAt(Date.UTC(2100, 0)), attempts: 1 },
      },
    );
    if ('notMade' in made || made.withdrawal.state.status !== 'sending')
      throw new Error(`Withdrawal ${id} was not created.`);
    if (!areEnded) return;
    const fact = { type: 'withdrawal_succeeded', reference: 'BENCH' } as const;
    const now = systemClock.now();
    if (!(await storeEnd(db, made, fact, { livemode: false, now }))) {
      throw new Error(`Withdrawal ${id} was not completed.`);
    }
  };
  return { name, work };
}

async function fill(on: Database, wallet: Parameters<typeof depositFromBank>[1]): Promise<void> {
  await depositFromBank(on, wallet, {
    id: randomIds.next(),
    livemode: false,
    bankAccountId: 'BENCH',
    minor: 900_000_000_000n,
    now: systemClock.now(),
  });
}
