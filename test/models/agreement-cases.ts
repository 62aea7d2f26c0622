// Cases of what a payer agreed to and what is charged. Each names the sentence that decides it.
import type { Terms, Warning } from './story.ts';

type Amounts = 'accepted' | 'recurrentAmountAboveConsent' | 'recurrentPeriodAlreadyCharged' | Warning;

export interface AgreementCase {
  terms: Partial<Terms>;
  /** Local date of the first payment and of the charge, in the shop's zone. */
  root?: string;
  on?: string;
  amount: number;
  currency?: string;
  /** Local dates of charges captured before. */
  captured?: readonly string[];
  declined?: readonly string[];
  shop?: { enforceAmount?: boolean; periodRule?: 'warn' | 'refuse'; zone?: string };
  isOld?: boolean;
  expect: Amounts;
  /** Why: the rule in words. */
  because: string;
}

const fixed = (amount: number, more: Partial<Terms> = {}): Partial<Terms> => ({
  rule: { kind: 'fixed', amount },
  ...more,
});
const upTo = (amount: number, more: Partial<Terms> = {}): Partial<Terms> => ({
  rule: { kind: 'upTo', amount },
  ...more,
});
const trial: Partial<Terms> = { trialEnd: '2026-03-15', amountAfterTrial: 500 };
const above = 'recurrentAmountAboveConsent';
const already = 'periodAlreadyCharged';

const notAbove =
  'a charge without the payer above a fixed or greatest amount is refused before any bank is asked';
const lower = 'a lower amount of a fixed consent passes with a warning';
const free = 'variable is free';
const afterTrial = 'the amount after the trial holds from the day after its last day on';
const sameCurrency = 'the currency must be that of the consent';
const old = 'series made before this release warn until the shop enforces amounts';
const onePerPeriod = 'a charge on another invoice in a period that was charged carries a warning';
const declinedIsNone = 'declined attempts do not count';
const fromRoot = 'periods run from the capture of the root in the zone of the shop';
const trialIsPeriod = 'the period of a trial ends at the end of the trial';

export const agreementCases: readonly AgreementCase[] = [
  { terms: {}, amount: 1, expect: 'accepted', because: free },
  { terms: { rule: { kind: 'variable' } }, amount: 99_999_999, expect: 'accepted', because: free },
  { terms: fixed(1000), amount: 1000, expect: 'accepted', because: notAbove },
  { terms: fixed(1000), amount: 1001, expect: above, because: notAbove },
  { terms: fixed(1000), amount: 999, expect: 'amountBelowConsent', because: lower },
  { terms: upTo(1000), amount: 1000, expect: 'accepted', because: notAbove },
  { terms: upTo(1000), amount: 1001, expect: above, because: notAbove },
  { terms: upTo(1000), amount: 1, expect: 'accepted', because: lower },
  { terms: fixed(1000), amount: 1000, currency: 'USD', expect: above, because: sameCurrency },
  { terms: upTo(1000), amount: 10, currency: 'USD', expect: above, because: sameCurrency },
  { terms: fixed(1000), amount: 1001, isOld: true, expect: 'amountAboveConsent', because: old },
  { terms: upTo(1000), amount: 1001, isOld: true, expect: 'amountAboveConsent', because: old },
  { terms: fixed(1000), amount: 999, isOld: true, expect: 'amountBelowConsent', because: old },
  {
    terms: fixed(1000),
    amount: 1001,
    isOld: true,
    shop: { enforceAmount: true },
    expect: above,
    because: old,
  },
  {
    terms: upTo(1000),
    amount: 1001,
    isOld: true,
    shop: { enforceAmount: true },
    expect: above,
    because: old,
  },
  { terms: fixed(100, trial), on: '2026-03-15', amount: 100, expect: 'accepted', because: notAbove },
  { terms: fixed(100, trial), on: '2026-03-15', amount: 500, expect: above, because: afterTrial },
  { terms: fixed(100, trial), on: '2026-03-16', amount: 500, expect: 'accepted', because: afterTrial },
  { terms: fixed(100, trial), on: '2026-03-16', amount: 501, expect: above, because: afterTrial },
  {
    terms: fixed(100, trial),
    on: '2026-03-16',
    amount: 100,
    expect: 'amountBelowConsent',
    because: afterTrial,
  },
  { terms: fixed(100, trial), on: '2026-07-01', amount: 500, expect: 'accepted', because: afterTrial },
  { terms: fixed(900, trial), on: '2026-03-16', amount: 900, expect: above, because: afterTrial },
  { terms: upTo(100, trial), on: '2026-03-15', amount: 101, expect: above, because: afterTrial },
  { terms: upTo(100, trial), on: '2026-03-16', amount: 500, expect: 'accepted', because: afterTrial },
  { terms: upTo(100, trial), on: '2026-03-16', amount: 501, expect: above, because: afterTrial },
  {
    terms: fixed(100, { trialEnd: '2026-03-15' }),
    on: '2026-03-20',
    amount: 101,
    expect: above,
    because: notAbove,
  },
  {
    terms: { rule: { kind: 'variable' }, ...trial },
    on: '2026-03-20',
    amount: 501,
    expect: above,
    because: afterTrial,
  },
  {
    terms: { rule: { kind: 'variable' }, ...trial },
    on: '2026-03-15',
    amount: 501,
    expect: 'accepted',
    because: free,
  },
  { terms: {}, amount: 1, currency: 'EUR', expect: above, because: sameCurrency },
  { terms: { schedule: 'P1M' }, on: '2026-02-15', amount: 5, expect: 'accepted', because: onePerPeriod },
  {
    terms: { schedule: 'P1M' },
    on: '2026-02-27',
    captured: ['2026-02-10'],
    amount: 5,
    expect: already,
    because: onePerPeriod,
  },
  {
    terms: { schedule: 'P1M' },
    on: '2026-02-28',
    captured: ['2026-02-10'],
    amount: 5,
    expect: 'accepted',
    because: 'a missing day is the last of its month: a period from 31 January ends on 28 February',
  },
  {
    terms: { schedule: 'P1M' },
    on: '2026-03-30',
    captured: ['2026-03-01'],
    amount: 5,
    expect: already,
    because: 'each period is reckoned from the first day: 28 February is followed by 31 March',
  },
  {
    terms: { schedule: 'P1M' },
    on: '2026-03-31',
    captured: ['2026-03-01'],
    amount: 5,
    expect: 'accepted',
    because: 'each period is reckoned from the first day: 28 February is followed by 31 March',
  },
  {
    terms: { schedule: 'P1M' },
    on: '2026-02-27',
    declined: ['2026-02-10'],
    amount: 5,
    expect: 'accepted',
    because: declinedIsNone,
  },
  {
    terms: { schedule: 'P1M' },
    on: '2026-02-27',
    captured: ['2026-02-10'],
    amount: 5,
    shop: { periodRule: 'refuse' },
    expect: 'recurrentPeriodAlreadyCharged',
    because: 'it is refused only where the shop says so',
  },
  {
    terms: { schedule: 'every month' },
    on: '2026-02-27',
    captured: ['2026-02-10'],
    amount: 5,
    shop: { periodRule: 'refuse' },
    expect: 'accepted',
    because: 'words are no schedule',
  },
  {
    terms: { schedule: 'P1W' },
    on: '2026-02-14',
    captured: ['2026-02-13'],
    amount: 5,
    expect: 'accepted',
    because: fromRoot,
  },
  {
    terms: { schedule: 'P7D' },
    on: '2026-02-13',
    captured: ['2026-02-07'],
    amount: 5,
    expect: already,
    because: fromRoot,
  },
  {
    terms: { schedule: 'P1M', ...trial },
    on: '2026-03-16',
    captured: ['2026-03-15'],
    amount: 5,
    expect: 'accepted',
    because: trialIsPeriod,
  },
  {
    terms: { schedule: 'P1M', ...trial },
    on: '2026-03-15',
    captured: ['2026-02-01'],
    amount: 5,
    expect: already,
    because: trialIsPeriod,
  },
  {
    terms: { schedule: 'P1M', ...trial },
    on: '2026-04-15',
    captured: ['2026-03-16'],
    amount: 5,
    expect: already,
    because: trialIsPeriod,
  },
  {
    terms: { schedule: 'P1M', ...trial },
    on: '2026-04-16',
    captured: ['2026-03-16'],
    amount: 5,
    expect: 'accepted',
    because: trialIsPeriod,
  },
  {
    terms: { schedule: 'P1Y' },
    root: '2028-02-29',
    on: '2029-02-27',
    captured: ['2028-11-01'],
    amount: 5,
    expect: already,
    because: 'a year from 29 February is 28 February in a common year',
  },
  {
    terms: { schedule: 'P1Y' },
    root: '2028-02-29',
    on: '2029-02-28',
    captured: ['2028-11-01'],
    amount: 5,
    expect: 'accepted',
    because: 'a year from 29 February is 28 February in a common year',
  },
];
