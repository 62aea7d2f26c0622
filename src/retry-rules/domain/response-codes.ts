// What networks' response codes and advice codes mean, as data: who can help after a decline, and what it does to later charges.
// Rule packs are built from these rows.
import { dayMs } from '../../clock.ts';
import type { DeclineClass } from '../../acquiring/domain/decline-class.ts';

/** How far a stop reaches. `card` means every shop of the installation; in a sandbox, every shop of the party. */
export type StopScope = 'charge' | 'series' | 'cardInShop' | 'card';

/** What a response of the bank means for later charges. */
export type Effect =
  | { readonly does: 'stop'; readonly scope: StopScope }
  | { readonly does: 'wait'; readonly forMs: number };

/** Who says so: the code's category at Visa, the text of the network, or Mandate where networks leave a choice. */
export type Source =
  | 'Visa category 1'
  | 'Visa category 2'
  | 'Visa category 3'
  | 'Visa category 4'
  | 'network'
  | 'house';

export type CodeRule = { readonly class: DeclineClass; readonly effect?: Effect; readonly source: Source };
/** Without a class it is for information. */
export type AdviceRule = Omit<CodeRule, 'class'> & { readonly class?: DeclineClass };

const hourMs = 3_600_000;

const stop = (scope: StopScope): Effect => ({ does: 'stop', scope });
const wait = (forMs: number): Effect => ({ does: 'wait', forMs });
/** The series ends; the payer can start another one with this card. */
const untilPayer = stop('series');

type Row<Rule extends AdviceRule> = readonly [codes: string, Rule['class'], Source, Effect?];

function rulesOf<Rule extends AdviceRule>(rows: readonly Row<Rule>[]): Readonly<Record<string, Rule>> {
  return Object.fromEntries(
    rows.flatMap(([codes, declineClass, source, effect]) => {
      const rule = { class: declineClass, source, ...(effect ? { effect } : {}) } as Rule;
      return codes.split(' ').map((code) => [code, rule]);
    }),
  );
}

/** The same on every network. */
const common: readonly Row<CodeRule>[] = [
  ['10', 'funds', 'house'], // partial approval, which Mandate does not ask for
  ['51 61', 'funds', 'Visa category 2'],
  ['01 02 05 63', 'vague', 'Visa category 4'],
  ['17', 'vague', 'house'],
  ['34', 'vague', 'house', wait(dayMs)],
  ['59', 'vague', 'Visa category 2', wait(dayMs)],
  ['36', 'issuer', 'house', wait(7 * dayMs)],
  ['62', 'issuer', 'Visa category 2', wait(7 * dayMs)],
  ['9G', 'issuer', 'Visa category 2'],
  ['06 21 28 80 81 88', 'technical', 'Visa category 4'],
  ['19 91 96', 'technical', 'Visa category 2'],
  ['68 92 94', 'technical', 'house'],
  ['04 07 14 15 41 43 46', 'newCard', 'Visa category 1', stop('cardInShop')],
  ['39 52 53 56', 'newCard', 'Visa category 4', stop('cardInShop')],
  ['93', 'newCard', 'house', stop('cardInShop')],
  ['33 54 6P N7', 'newCard', 'Visa category 3', untilPayer],
  ['1A 55', 'payerPresent', 'Visa category 3', untilPayer],
  ['75 86', 'payerPresent', 'Visa category 2', untilPayer],
  ['38', 'payerPresent', 'house', untilPayer],
  ['R0', 'stopped', 'Visa category 1', stop('charge')],
  ['R1', 'stopped', 'Visa category 1', stop('cardInShop')],
  ['R3', 'stopped', 'Visa category 1', stop('card')],
  ['03', 'configuration', 'Visa category 2'],
  ['13 30 31 40 58 76 77', 'configuration', 'Visa category 4'],
  // Codes of approvals, reversals, batches, payouts and cash, which no charge is declined with.
  ['00 08 11 16 85 25 64 95 N3 N4', 'vague', 'house'],
];

const visaRows: readonly Row<CodeRule>[] = [
  ['12', 'newCard', 'Visa category 1', stop('cardInShop')],
  ['57 79 83', 'vague', 'house'],
  ['5C', 'issuer', 'Visa category 2', wait(7 * dayMs)],
  ['65', 'funds', 'Visa category 2'],
  ['70', 'payerPresent', 'Visa category 3', untilPayer],
  ['78', 'vague', 'Visa category 2'],
  ['82', 'newCard', 'Visa category 3', untilPayer],
];

/** 57 is final again, and 83 is now the network's own fraud control. */
const visaRowsOfOctober2026: readonly Row<CodeRule>[] = [
  ['57', 'newCard', 'Visa category 1', stop('cardInShop')],
  ['83', 'issuer', 'Visa category 2', wait(dayMs)],
];

const mastercardRows: readonly Row<CodeRule>[] = [
  ['12', 'configuration', 'house'],
  ['57 78 79 83', 'newCard', 'house', stop('cardInShop')],
  ['5C 70 82', 'vague', 'house'],
  ['65', 'payerPresent', 'network', untilPayer],
];

/** Mir and the rest publish no meanings of their own. Outside Visa, 12 is a mistake in the request. */
const otherRows: readonly Row<CodeRule>[] = [
  ...visaRows,
  ['12', 'configuration', 'house'],
  ['57', 'newCard', 'house', stop('cardInShop')],
];

/** What a bank declines without asking the network. All else is `technical`: no issuer has decided. */
const bankRows: readonly Row<CodeRule>[] = [['03 12 13 30 31 40 58 76 77', 'configuration', 'house']];

const adviceRows: readonly Row<AdviceRule>[] = [
  ['01', 'newCard', 'network', untilPayer],
  ['02', 'vague', 'network', wait(72 * hourMs)],
  ['03 21', 'stopped', 'network', stop('cardInShop')],
  ['24', 'funds', 'network', wait(hourMs)],
  ['25', 'funds', 'network', wait(dayMs)],
  ['26', 'funds', 'network', wait(2 * dayMs)],
  ['27', 'funds', 'network', wait(4 * dayMs)],
  ['28', 'funds', 'network', wait(6 * dayMs)],
  ['29', 'funds', 'network', wait(8 * dayMs)],
  ['30', 'funds', 'network', wait(10 * dayMs)],
  ['04 05 22 40 41 43', undefined, 'network'],
];

export const visaCodes = rulesOf([...common, ...visaRows]);
export const visaCodesOfOctober2026 = rulesOf([...common, ...visaRows, ...visaRowsOfOctober2026]);
export const mastercardCodes = rulesOf([...common, ...mastercardRows]);
export const otherCodes = rulesOf([...common, ...otherRows]);
export const bankCodes = rulesOf(bankRows);
export const adviceCodes = rulesOf(adviceRows);

/**
 * What an acquirer or a connector declines has no code of a network, so its class decides. It stops as much as
 * codes of that class do.
 */
export const bankClasses: Readonly<Partial<Record<DeclineClass, CodeRule>>> = {
  newCard: { class: 'newCard', source: 'house', effect: untilPayer },
  payerPresent: { class: 'payerPresent', source: 'house', effect: untilPayer },
  stopped: { class: 'stopped', source: 'house', effect: stop('cardInShop') },
};

/** A decline that the network calls final, also when the payer was present. */
export function isFinal(rule: AdviceRule): boolean {
  return rule.effect?.does === 'stop' && (rule.source === 'Visa category 1' || rule.class === 'stopped');
}
