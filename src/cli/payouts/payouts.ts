// mandate identity, mandate wallet, mandate payout: an operator's decisions about payouts.
import { doubtSends } from '../../payouts/store/sends.ts';
import { livemodeOf } from '../../livemode.ts';
import type { Foundation } from '../../app/composition/foundation.ts';
import { isKnownCurrency } from '../../money.ts';
import { completed, evolve, type IdentityFact } from '../../identities/domain/identity.ts';
import {
  endChallenge,
  findChallenges,
  findIdentity,
  listIdentities as readIdentities,
  storeIdentityFacts,
} from '../../identities/store/identities.ts';
import { parseInstant } from '../../clock.ts';
import { resolveWithdrawal, type ManualOutcome } from '../../payouts/resolve-withdrawal.ts';
import { storePayoutFee } from '../../payouts/store/payout-terms.ts';
import type { Level } from '../../identities/domain/provider.ts';
import { printTable, requireParty, requireReason, withFoundation } from '../foundation.ts';
import { minorOf } from '../option-values.ts';
import { printJson } from '../json-members.ts';

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

export async function doubtPayouts(): Promise<void> {
  const count = await withFoundation(({ database }) => doubtSends(database));
  console.log(`${count} payouts in progress that counted as not sent are only asked about from now on.`);
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

export async function resolvePayout(
  id: string,
  { as, reason, since: given }: { as: ManualOutcome; reason: string; since?: string },
): Promise<void> {
  requireReason(reason);
  const since = given === undefined ? undefined : parseInstant(given);
  if (given !== undefined && !since)
    throw new Error(`--since is "${given}". Use the time that "mandate jobs stuck" prints.`);
  if (as === 'failed' && !since)
    throw new Error(
      'Give --since, the time that "mandate jobs stuck" printed before you asked the bank: it may have been sent since.',
    );
  await withFoundation(({ database: db, ports: { clock }, config }) =>
    resolveWithdrawal({ db, clock, livemode: livemodeOf(config.mode) }, id, { since, as, reason }),
  );
  console.log(`Resolved withdrawal ${id}: ${as}.`);
}

export function checkedCurrency(code: string): string {
  if (!isKnownCurrency(code))
    throw new Error(`Unknown currency "${code}". Use an ISO 4217 code such as RUB.`);
  return code;
}
