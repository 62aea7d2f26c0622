// mandate identity, mandate wallet, mandate payout: an operator's decisions about payouts.
import { livemodeOf } from '../../livemode.ts';
import type { Foundation } from '../../app/compose.ts';
import { isKnownCurrency } from '../../money.ts';
import { completed, evolve, type IdentityFact } from '../../identities/domain/identity.ts';
import {
  endChallenge,
  findChallenges,
  findIdentity,
  listIdentities as readIdentities,
  storeIdentityFacts,
} from '../../identities/store/identities.ts';
import { depositFromBank, depositFromShop, depositIdOf } from '../../wallets/deposit.ts';
import { operatorDecided } from '../../payouts/domain/payout-failure.ts';
import { storePayoutFee, storePayoutLimits } from '../../payouts/store/payout-terms.ts';
import type { Level } from '../../identities/domain/provider.ts';
import { findWallet } from '../../wallets/store/wallets.ts';
import { storeEnd, claimStuckJob } from '../../payouts/store/withdrawals.ts';
import { printTable, requireParty, requireReason, withFoundation } from '../foundation.ts';
import { printJson } from '../json-members.ts';
import { defined } from '../../defined.ts';

type Transaction = Parameters<Parameters<Foundation['database']['transaction']>[0]>[0];

export async function listIdentities(options: { party: string; json?: true }): Promise<void> {
  const all = { provider: null, class: null, level: null, limit: 1_000, before_at: null, before_id: null };
  const found = await withFoundation(async ({ database }) => {
    await requireParty(database, options.party);
    return readIdentities(database, { party_id: options.party, ...all });
  });
  const identities = found.map((one) => ({
    identityId: one.id,
    name: one.name,
    provider: one.provider,
    class: one.class,
    level: one.level,
    status: one.isBlocked ? 'blocked' : 'active',
  }));
  if (options.json) return printJson('identity list', identities);
  printTable(
    ['identity', 'name', 'provider', 'class', 'level', 'status'],
    identities.map((one) => Object.values(one)),
  );
}

export async function decideIdentification(
  id: string,
  decision: { readonly isPassed: true } | { readonly isPassed: false; readonly reason: string },
): Promise<void> {
  const level = await changeIdentity(id, async (tx) => {
    const [challenge] = await findChallenges(tx, id, { status: 'pending' });
    if (!challenge)
      throw new Error(
        `Identity ${id} has no pending identification. Set its level with "mandate identity level".`,
      );
    if (decision.isPassed) {
      await endChallenge(tx, challenge, { status: 'completed' });
      return completed(challenge);
    }
    const { reason } = decision;
    await endChallenge(tx, challenge, { status: 'failed', reason });
    return { type: 'challenge_failed', challengeId: challenge.id, reason };
  });
  console.log(`Identity ${id} is ${level}.`);
}

export async function setLevel(id: string, level: Level, options: { reason: string }): Promise<void> {
  await changeIdentity(id, () =>
    Promise.resolve({ type: 'identity_level_set', level, reason: options.reason }),
  );
  console.log(`Identity ${id} is ${level}.`);
}

export async function blockIdentity(id: string, isBlocked: boolean): Promise<void> {
  await changeIdentity(id, () =>
    Promise.resolve({ type: isBlocked ? 'identity_blocked' : 'identity_unblocked' }),
  );
  console.log(`Identity ${id} is ${isBlocked ? 'blocked' : 'no longer blocked'}.`);
}

/** Returns the level after the change. */
function changeIdentity(id: string, decide: (tx: Transaction) => Promise<IdentityFact>): Promise<Level> {
  return withFoundation(({ database, ports }) =>
    database.transaction(async (tx) => {
      const stored = await findIdentity(tx, null, id);
      if (!stored)
        throw new Error(
          `Identity ${id} not found. List identities with "mandate identity list --party <id>".`,
        );
      const fact = await decide(tx);
      const isStored = await storeIdentityFacts(tx, stored, [fact], ports.clock.now());
      if (!isStored) throw new Error(`Another writer changed identity ${id}. Run the command again.`);
      return evolve(stored.identity, fact).level;
    }),
  );
}

export async function deposit(
  walletId: string,
  options: { amount: string; fromShop?: string; fromBank?: string; reference?: string; description?: string },
): Promise<void> {
  const { fromShop, fromBank, reference, description } = options;
  if ((fromShop === undefined) === (fromBank === undefined)) {
    throw new Error('The source of the money is missing. Give either --from-shop or --from-bank.');
  }
  const minor = minorOf('--amount', options.amount);
  if (minor === 0n) throw new Error('--amount is 0. Deposit at least 1 minor unit.');
  // A script with an unset variable would pass two deposits off as one.
  if (reference?.trim() === '') throw new Error('--reference is empty. Give one, or leave the option out.');
  const made = await withFoundation(async (foundation) => {
    const { database, ports } = foundation;
    const wallet = await findWallet(database, null, walletId);
    if (!wallet) throw new Error(`Wallet ${walletId} not found. Check the ID with the merchant.`);
    const given = {
      id: reference === undefined ? ports.ids.next() : depositIdOf(wallet.id, reference),
      livemode: livemodeOf(foundation.config.mode),
      minor,
      now: ports.clock.now(),
      ...defined({ description }),
    } as const;
    if (fromBank !== undefined)
      return depositFromBank(database, wallet, { ...given, bankAccountId: fromBank });
    const drawn = await depositFromShop(database, wallet, { ...given, shopId: fromShop ?? '' });
    if (!drawn)
      throw new Error(
        `Shop ${fromShop} has less than ${minor} ${wallet.currency}. No money was moved. Deposit less, or from another source.`,
      );
    return drawn;
  });
  const { id, amount, sourceId, createdAt } = made.deposit;
  if (!made.isNew) {
    const earlier = `This reference belongs to deposit ${id} of ${amount.minor} ${amount.currency} from ${sourceId} at ${createdAt}`;
    if (!made.isAsGiven)
      throw new Error(
        `${earlier}, out of ${made.debitAccount}. Yours is different, so no money was moved. Use another --reference.`,
      );
    console.error(`${earlier}. It was not repeated.`);
  }
  console.log(id);
}

export async function setLimits(options: {
  party: string;
  level: Level;
  currency: string;
  perPayout?: string;
  perDay?: string;
  perMonth?: string;
  numberPerDay?: string;
  none?: true;
}): Promise<void> {
  const { level } = options;
  const currency = checkedCurrency(options.currency);
  const limit = <Name extends string>(name: Name, option: string, text: string | undefined) =>
    (text === undefined ? {} : { [name]: minorOf(option, text) }) as { [N in Name]?: bigint };
  const limits = {
    ...limit('perPayoutMinor', '--per-payout', options.perPayout),
    ...limit('perDayMinor', '--per-day', options.perDay),
    ...limit('perMonthMinor', '--per-month', options.perMonth),
    ...limit('payoutsPerDay', '--number-per-day', options.numberPerDay),
  };
  const isEmpty = Object.keys(limits).length === 0;
  if (isEmpty && !options.none)
    throw new Error('No limit is given. Give at least one, or --none for no limits.');
  if (!isEmpty && options.none) throw new Error('--none is given with a limit. Give either.');
  await withFoundation(async ({ database }) => {
    await requireParty(database, options.party);
    await storePayoutLimits(database, options.party, { level, currency, limits });
  });
  console.log('Changed the limits. Every node uses them within a second.');
}

export async function setFee(options: {
  party: string;
  currency: string;
  basisPoints?: string;
  fixed?: string;
}): Promise<void> {
  if (options.basisPoints === undefined && options.fixed === undefined)
    throw new Error('No fee is given. Give --basis-points or --fixed; --fixed 0 for no fee.');
  const currency = checkedCurrency(options.currency);
  const fee = {
    basisPoints: minorOf('--basis-points', options.basisPoints ?? '0'),
    fixedMinor: minorOf('--fixed', options.fixed ?? '0'),
  };
  await withFoundation(async ({ database }) => {
    await requireParty(database, options.party);
    await storePayoutFee(database, options.party, currency, fee);
  });
  console.log('Changed the fee. Every node uses it within a second.');
}

/** Only a stuck withdrawal: while a node works on one, it may send it. */
export async function resolveWithdrawal(
  id: string,
  { as, reason }: { as: 'succeeded' | 'failed'; reason: string },
): Promise<void> {
  requireReason(reason);
  const fact =
    as === 'succeeded'
      ? ({ type: 'withdrawal_succeeded', reference: 'operator', reason } as const)
      : ({ type: 'withdrawal_failed', failure: operatorDecided, reason } as const);
  await withFoundation(async (foundation) => {
    const { database, ports } = foundation;
    await database.transaction(async (tx) => {
      const stored = await claimStuckJob(tx, id);
      if (!stored)
        throw new Error(`Withdrawal ${id} has no stuck job. List stuck jobs with "mandate jobs stuck".`);
      const now = ports.clock.now();
      if (!(await storeEnd(tx, stored, fact, { livemode: livemodeOf(foundation.config.mode), now })))
        throw new Error(
          `Another writer changed withdrawal ${id}. Check its status, and run the command again.`,
        );
    });
  });
  console.log(`Resolved withdrawal ${id}: ${as}.`);
}

function minorOf(option: string, text: string): bigint {
  if (!/^\d{1,12}$/.test(text))
    throw new Error(`${option} is "${text}". Use a whole number of at most 12 digits.`);
  return BigInt(text);
}

function checkedCurrency(code: string): string {
  if (!isKnownCurrency(code))
    throw new Error(`Unknown currency "${code}". Use an ISO 4217 code such as RUB.`);
  return code;
}
