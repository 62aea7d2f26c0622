// mandate identity, mandate wallet, mandate payout: what an operator decides about payouts.
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
import { levels, type Level } from '../../identities/domain/provider.ts';
import { findWallet } from '../../wallets/store/wallets.ts';
import { storeEnd, claimStuckJob } from '../../payouts/store/withdrawals.ts';
import { printTable, requireParty, requireReason, withFoundation } from '../foundation.ts';
import { defined } from '../../defined.ts';

type Transaction = Parameters<Parameters<Foundation['database']['transaction']>[0]>[0];

export async function listIdentities(options: { party: string }): Promise<void> {
  const all = { provider: null, class: null, level: null, limit: 1_000, before_at: null, before_id: null };
  const identities = await withFoundation(({ database }) =>
    readIdentities(database, { party_id: options.party, ...all }),
  );
  printTable(
    ['identity', 'name', 'provider', 'class', 'level', 'state'],
    identities.map((one) => [
      one.id,
      one.name,
      one.provider,
      one.class,
      one.level,
      one.isBlocked ? 'blocked' : 'active',
    ]),
  );
}

/** Ends the identification that is under way. */
export async function decideIdentification(
  id: string,
  decision: { readonly isPassed: true } | { readonly isPassed: false; readonly reason: string },
): Promise<void> {
  const level = await changeIdentity(id, async (tx) => {
    const [challenge] = await findChallenges(tx, id, { status: 'pending' });
    if (!challenge) throw new Error(`identity ${id} has no identification under way`);
    if (decision.isPassed) {
      await endChallenge(tx, challenge, { status: 'completed' });
      return completed(challenge);
    }
    const { reason } = decision;
    await endChallenge(tx, challenge, { status: 'failed', reason });
    return { type: 'challenge_failed', challengeId: challenge.id, reason };
  });
  console.log(`${id} is ${level}.`);
}

export async function setLevel(id: string, level: string, options: { reason: string }): Promise<void> {
  const known = levels.find((one) => one === level);
  if (!known) throw new Error(`${level} is no level; there are ${levels.join(', ')}`);
  await changeIdentity(id, () =>
    Promise.resolve({ type: 'identity_level_set', level: known, reason: options.reason }),
  );
  console.log(`${id} is ${level}.`);
}

export async function blockIdentity(id: string, isBlocked: boolean): Promise<void> {
  await changeIdentity(id, () =>
    Promise.resolve({ type: isBlocked ? 'identity_blocked' : 'identity_unblocked' }),
  );
  console.log(`${id} is ${isBlocked ? 'blocked' : 'no longer blocked'}.`);
}

/** Answers the level afterwards. */
function changeIdentity(id: string, decide: (tx: Transaction) => Promise<IdentityFact>): Promise<Level> {
  return withFoundation(({ database, ports }) =>
    database.transaction(async (tx) => {
      const stored = await findIdentity(tx, null, id);
      if (!stored)
        throw new Error(`there is no identity ${id}; mandate identity list shows those of a party`);
      const fact = await decide(tx);
      const isStored = await storeIdentityFacts(tx, stored, [fact], ports.clock.now());
      if (!isStored) throw new Error(`identity ${id} was changed by somebody else; try again`);
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
    throw new Error('say where it comes from: --from-shop <shopID> or --from-bank <account>');
  }
  const minor = minorOf(options.amount);
  if (minor === 0n) throw new Error('a deposit has 1 minor unit or more');
  // As of a variable that was not set: the second of these would pass for the first.
  if (reference?.trim() === '')
    throw new Error('the reference of a deposit is not empty; leave out --reference instead');
  const made = await withFoundation(async (foundation) => {
    const { database, ports } = foundation;
    const wallet = await findWallet(database, null, walletId);
    if (!wallet) throw new Error(`there is no wallet ${walletId}`);
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
    if (!drawn) throw new Error(`shop ${fromShop} has not so much in ${wallet.currency}; nothing was done`);
    return drawn;
  });
  const { id, amount, sourceId, createdAt } = made.deposit;
  if (!made.isNew) {
    const earlier = `deposit ${id} of ${amount.minor} ${amount.currency} from ${sourceId} was already made at ${createdAt}`;
    if (!made.isAsGiven)
      throw new Error(
        `${earlier} under this reference, out of ${made.debitAccount}, and what you say is another; nothing was done`,
      );
    console.error(`${earlier}; nothing was done`);
  }
  console.log(id);
}

export async function setLimits(options: {
  party: string;
  level: string;
  currency: string;
  perPayout?: string;
  perDay?: string;
  perMonth?: string;
  numberPerDay?: string;
}): Promise<void> {
  const level = levels.find((one) => one === options.level);
  if (!level) throw new Error(`${options.level} is no level; there are ${levels.join(', ')}`);
  const currency = checkedCurrency(options.currency);
  const limit = <Name extends string>(name: Name, text: string | undefined) =>
    (text === undefined ? {} : { [name]: minorOf(text) }) as { [N in Name]?: bigint };
  const limits = {
    ...limit('perPayoutMinor', options.perPayout),
    ...limit('perDayMinor', options.perDay),
    ...limit('perMonthMinor', options.perMonth),
    ...limit('payoutsPerDay', options.numberPerDay),
  };
  await withFoundation(async ({ database }) => {
    await requireParty(database, options.party);
    await storePayoutLimits(database, options.party, { level, currency, limits });
  });
  console.log('The limits are changed; every node knows within a second.');
}

export async function setFee(options: {
  party: string;
  currency: string;
  basisPoints: string;
  fixed: string;
}): Promise<void> {
  const currency = checkedCurrency(options.currency);
  const fee = { basisPoints: minorOf(options.basisPoints), fixedMinor: minorOf(options.fixed) };
  await withFoundation(async ({ database }) => {
    await requireParty(database, options.party);
    await storePayoutFee(database, options.party, currency, fee);
  });
  console.log('The fee is changed; every node knows within a second.');
}

/**
 * What no bank could say: only an operator ends a withdrawal without proof, with his reason in the log, and only one that he was
 * left to: a node that is still at one may send it.
 */
export async function resolveWithdrawal(id: string, options: { as: string; reason: string }): Promise<void> {
  const { as, reason } = options;
  if (as !== 'succeeded' && as !== 'failed') throw new Error('it ends --as succeeded or --as failed');
  requireReason(reason);
  const fact =
    as === 'succeeded'
      ? ({ type: 'withdrawal_succeeded', reference: 'operator', reason } as const)
      : ({ type: 'withdrawal_failed', failure: operatorDecided, reason } as const);
  await withFoundation(async (foundation) => {
    const { database, ports } = foundation;
    await database.transaction(async (tx) => {
      const stored = await claimStuckJob(tx, id);
      if (!stored) throw new Error(`withdrawal ${id} has no stuck job; list them with mandate jobs stuck`);
      const now = ports.clock.now();
      if (!(await storeEnd(tx, stored, fact, { livemode: livemodeOf(foundation.config.mode), now })))
        throw new Error(`withdrawal ${id} was changed by somebody else; look again`);
    });
  });
  console.log(`${id} has ${as}.`);
}

function minorOf(text: string): bigint {
  if (!/^\d{1,12}$/.test(text)) throw new Error(`${text} is no whole number of minor units`);
  return BigInt(text);
}

function checkedCurrency(code: string): string {
  if (!isKnownCurrency(code)) throw new Error(`${code} is no currency of ISO 4217`);
  return code;
}
