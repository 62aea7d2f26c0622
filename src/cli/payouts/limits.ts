// mandate payout limits: what may be paid out, as rows that say who set them and why.
import { userInfo } from 'node:os';
import { defined } from '../../defined.ts';
import type { Level } from '../../identities/domain/provider.ts';
import { paymentSystems } from '../../cards/domain/card.ts';
import { readLimitRules, removeLimitRule, storeLimitRule } from '../../payouts/store/payout-terms.ts';
import { any, type LimitRule, type PayoutLimits } from '../../wallets/domain/payout-limits.ts';
import { printTable, requireParty, requireReason, withFoundation } from '../foundation.ts';
import { printJson } from '../json-members.ts';
import { minorOf } from '../option-values.ts';
import { checkedCurrency } from './payouts.ts';

type Key = {
  readonly currency: string;
  readonly party?: string;
  readonly network?: string;
  readonly level?: Level;
};

export type SetLimits = Key & {
  readonly reason: string;
  readonly by?: string;
  readonly min?: string;
  readonly perPayout?: string;
  readonly perDay?: string;
  readonly perMonth?: string;
  readonly numberPerDay?: string;
  readonly cardPerDay?: string;
  readonly cardPerMonth?: string;
  readonly cardNumberPerDay?: string;
  readonly none?: true;
};

export async function setLimits(options: SetLimits): Promise<void> {
  requireReason(options.reason);
  const limits = limitsIn(options);
  const isEmpty = Object.keys(limits).length === 0;
  if (isEmpty && !options.none)
    throw new Error('No limit is given. Give at least one, or --none for no limits.');
  if (!isEmpty && options.none) throw new Error('--none is given with a limit. Give either.');
  const key = keyOf(options);
  const setBy = options.by ?? userInfo().username;
  await withFoundation(async ({ database, ports }) => {
    if (options.party !== undefined) await requireParty(database, options.party);
    const source = { setBy, setAt: ports.clock.now(), reason: options.reason };
    await storeLimitRule(database, { ...key, limits, source });
  });
  console.log('Set the limits. Every node uses them within a second.');
}

export async function listLimits(options: { party?: string; json?: true }): Promise<void> {
  const found = await withFoundation(async ({ database }) => {
    if (options.party !== undefined) await requireParty(database, options.party);
    return readLimitRules(database, options.party ?? any);
  });
  if (options.json) return printJson('payout limits list', found.map(rowOf));
  if (found.length === 0)
    return console.log(
      'No limits are set, so nothing is paid out in live mode. Set some with "mandate payout limits set".',
    );
  printTable(
    ['party', 'currency', 'network', 'level', 'limits, minor units', 'set', 'by', 'reason'],
    found.map((rule) => [
      rule.partyId,
      rule.currency,
      rule.network,
      rule.level,
      limitsText(rule.limits),
      rule.source.setAt.slice(0, 10),
      rule.source.setBy,
      rule.source.reason,
    ]),
  );
}

export async function removeLimits(options: Key & { reason: string }): Promise<void> {
  requireReason(options.reason);
  const key = keyOf(options);
  const isRemoved = await withFoundation(({ database }) => removeLimitRule(database, key));
  if (!isRemoved)
    throw new Error(
      `There is no such row for ${key.currency}. List the rows with "mandate payout limits list".`,
    );
  console.log(`Removed the limits: ${options.reason}. Every node knows it within a second.`);
}

function keyOf({ currency, party = any, network = any, level }: Key): Omit<LimitRule, 'limits' | 'source'> {
  if (network !== any && !Object.hasOwn(paymentSystems, network))
    throw new Error(`Unknown network "${network}". Use one of ${Object.keys(paymentSystems).join(', ')}.`);
  return { partyId: party, network, currency: checkedCurrency(currency), level: level ?? any };
}

function limitsIn(options: SetLimits): PayoutLimits {
  const minor = (option: string, text: string | undefined) =>
    text === undefined ? undefined : minorOf(option, text);
  const card = defined({
    perDayMinor: minor('--card-per-day', options.cardPerDay),
    perMonthMinor: minor('--card-per-month', options.cardPerMonth),
    payoutsPerDay: minor('--card-number-per-day', options.cardNumberPerDay),
  });
  const min = minor('--min', options.min);
  if (min === 0n) throw new Error('--min is 0. Use at least 1 minor unit.');
  return {
    ...defined({
      minMinor: min,
      perPayoutMinor: minor('--per-payout', options.perPayout),
      perDayMinor: minor('--per-day', options.perDay),
      perMonthMinor: minor('--per-month', options.perMonth),
      payoutsPerDay: minor('--number-per-day', options.numberPerDay),
    }),
    ...(Object.keys(card).length === 0 ? {} : { card }),
  };
}

function rowOf({ partyId, network, currency, level, limits, source }: LimitRule) {
  const number = (value: bigint | undefined) => (value === undefined ? null : Number(value));
  return {
    party: partyId,
    currency,
    network,
    level,
    min: number(limits.minMinor),
    perPayout: number(limits.perPayoutMinor),
    perDay: number(limits.perDayMinor),
    perMonth: number(limits.perMonthMinor),
    numberPerDay: number(limits.payoutsPerDay),
    cardPerDay: number(limits.card?.perDayMinor),
    cardPerMonth: number(limits.card?.perMonthMinor),
    cardNumberPerDay: number(limits.card?.payoutsPerDay),
    setBy: source.setBy,
    setAt: source.setAt,
    reason: source.reason,
  };
}

function limitsText({ card = {}, ...limits }: PayoutLimits): string {
  const named: readonly (readonly [string, bigint | undefined])[] = [
    ['from', limits.minMinor],
    ['payout', limits.perPayoutMinor],
    ['day', limits.perDayMinor],
    ['month', limits.perMonthMinor],
    ['number a day', limits.payoutsPerDay],
    ['card day', card.perDayMinor],
    ['card month', card.perMonthMinor],
    ['card number a day', card.payoutsPerDay],
  ];
  const texts = named.flatMap(([name, limit]) => (limit === undefined ? [] : [`${name} ${limit}`]));
  return texts.length === 0 ? 'none' : texts.join(', ');
}
