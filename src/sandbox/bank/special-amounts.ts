// Amounts with special behaviour in the simulated bank, by their last five digits.
// A test compares this table with docs/simulated-bank.md.
import type { OperationKind } from '../../acquiring/adapters/http/messages.ts';
import type { UpdateKind } from '../../acquiring/domain/bank-updates.ts';
import type { DeclineClass } from '../../acquiring/domain/decline-class.ts';
import type { FaultKind } from './faults.ts';

export type SpecialAmount = {
  readonly ending: number;
  /** The kind of operation; without one, all kinds with an amount. */
  readonly on?: OperationKind;
  readonly declined?: string;
  /** The code is a word of the acquirer, which says who can help. */
  readonly class?: DeclineClass;
  readonly advice?: string;
  /** Played once per operation, on the first send. */
  readonly fault?: FaultKind;
  /** How often the fault is played, instead of once. */
  readonly times?: number;
  /** How long the operation stays pending. */
  readonly waits?: 'two minutes' | 'permanently';
  readonly bookedTwice?: true;
  /** The money comes back after two minutes. */
  readonly comesBack?: true;
  /** What the bank reports after two minutes. */
  readonly later?: UpdateKind;
  /** The form for the challenge has 25 fields and a long address. */
  readonly largeForm?: true;
  /** Declined unless the message demands a challenge, which every card then has. */
  readonly wantsChallenge?: true;
  /** A confirmed challenge counts only once the merchant has handed on what the browser brought back. */
  readonly needsReturn?: true;
  readonly meaning: string;
};

export const specialAmounts: readonly SpecialAmount[] = [
  {
    ending: 99901,
    fault: 'no-answer-after-booking',
    meaning: 'done, but never answered',
  },
  { ending: 99902, fault: 'slow-answer', meaning: 'done, and answered after 40 seconds' },
  {
    ending: 99903,
    fault: 'reset-before-booking',
    meaning: 'not done; the connection breaks. A payout then waits for an operator',
  },
  {
    ending: 99904,
    fault: 'foreign-answer-after-booking',
    meaning: 'done, and answered with the ID of another operation',
  },
  { ending: 99905, fault: 'duplicate-callback', meaning: 'the callback comes twice' },
  { ending: 99906, fault: 'split-answer', meaning: 'done; the response comes byte by byte' },
  { ending: 99907, advice: '03', meaning: 'approved, with the advice never to try again' },
  { ending: 99908, declined: '51', advice: '27', meaning: 'declined 51, with the advice to wait four days' },
  { ending: 99909, declined: 'R1', meaning: 'declined R1: the payer revokes all charges of this merchant' },
  {
    ending: 99910,
    declined: '05',
    advice: '21',
    meaning: 'declined 05, with the advice that the payer cancelled the agreement',
  },
  { ending: 99911, declined: '65', meaning: 'declined 65: too many payments, or authentication required' },
  { ending: 99912, declined: '10', meaning: 'declined 10: only part of the amount is available' },
  {
    ending: 99913,
    on: 'reverse',
    fault: 'reset-after-booking',
    times: 2,
    meaning: 'the reversal is answered only when it is sent a third time',
  },
  { ending: 99914, on: 'capture', declined: '25', meaning: 'the capture is declined 25' },
  {
    ending: 99918,
    on: 'reverse',
    declined: '12',
    meaning: 'the reversal is declined 12, as of a charge that is settled; a refund is done',
  },
  {
    ending: 99915,
    on: 'payout',
    fault: 'reset-after-booking',
    waits: 'two minutes',
    meaning: 'the connection breaks; inquiries return pending, and approved after two minutes',
  },
  {
    ending: 99916,
    on: 'payout',
    fault: 'reset-after-booking',
    waits: 'permanently',
    meaning: 'the connection breaks; inquiries always return pending, and the report never has it',
  },
  { ending: 99917, bookedTwice: true, meaning: 'approved, and twice in the report' },
  { ending: 99920, fault: 'no-answer-before-booking', meaning: 'not done, and never answered' },
  { ending: 99921, fault: 'reset-after-booking', meaning: 'done; the connection breaks' },
  { ending: 99922, fault: 'error-before-booking', meaning: 'not done; status 500' },
  { ending: 99923, fault: 'error-after-booking', meaning: 'done; status 500' },
  { ending: 99924, fault: 'garbage-after-booking', meaning: 'done, and answered with invalid JSON' },
  { ending: 99925, fault: 'not-done', meaning: 'not done; status 503 with notDone' },
  { ending: 99926, fault: 'lost-callback', meaning: 'the callback never comes' },
  {
    ending: 99928,
    on: 'payout',
    comesBack: true,
    meaning: 'approved; after two minutes the money comes back, because the account is closed',
  },
  {
    ending: 99930,
    on: 'authorise',
    declined: 'insufficient_funds',
    class: 'funds',
    meaning: 'declined by the acquirer with insufficient_funds, class funds',
  },
  {
    ending: 99931,
    on: 'authorise',
    declined: 'authentication_required',
    class: 'payerPresent',
    meaning: 'declined by the acquirer with authentication_required, class payerPresent',
  },
  {
    ending: 99932,
    on: 'authorise',
    declined: 'lost_card',
    class: 'stopped',
    meaning: 'declined by the acquirer with lost_card, class stopped',
  },
  {
    ending: 99933,
    on: 'authorise',
    largeForm: true,
    meaning: 'the form of a challenge has 25 fields and an address of 4000 characters',
  },
  {
    ending: 99934,
    on: 'authorise',
    needsReturn: true,
    meaning: 'a confirmed challenge counts only once the return of the browser is handed on',
  },
  {
    ending: 99935,
    on: 'authorise',
    wantsChallenge: true,
    meaning: 'declined 1A, on Mastercard 65, until a challenge is demanded; then every card has one',
  },
  {
    ending: 99940,
    on: 'capture',
    later: 'captureFailed',
    meaning: 'the capture is approved, and has failed after two minutes',
  },
  {
    ending: 99941,
    on: 'refund',
    later: 'refundFailed',
    meaning: 'the refund is approved, and has failed after two minutes',
  },
  {
    ending: 99942,
    on: 'authorise',
    declined: '68',
    later: 'approvedLate',
    meaning: 'declined 68; after two minutes the bank reports that it is approved',
  },
  {
    ending: 99943,
    on: 'authorise',
    later: 'holdEnded',
    meaning: 'a hold is approved, and has ended after two minutes',
  },
  {
    ending: 99944,
    on: 'authorise',
    later: 'networkIds',
    meaning: 'approved without network IDs, which the bank reports after two minutes',
  },
  {
    ending: 99945,
    on: 'authorise',
    wantsChallenge: true,
    later: 'approvedLate',
    meaning: 'as 99935; after two minutes the bank reports that the declined charge is approved as well',
  },
  { ending: 99927, fault: 'late-callback', meaning: 'the callback comes 15 seconds late' },
];

/** A response code that is not a number cannot be part of an amount, so it has an ending of its own. */
export const lettered: Readonly<Record<number, string>> = {
  99101: '1A',
  99102: '5C',
  99103: '6P',
  99104: '9G',
  99105: 'N3',
  99106: 'N4',
  99107: 'N7',
  99108: 'R0',
  99109: 'R1',
  99110: 'R3',
};

/** Network codes that mean approved. */
const approvals = ['00', '08', '11', '16', '85'];

export function specialAmount(amount: number, kind: OperationKind): SpecialAmount | undefined {
  const ending = amount % 100_000;
  const found = specialAmounts.find((special) => special.ending === ending);
  if (found) return found.on === undefined || found.on === kind ? found : undefined;
  const code =
    lettered[ending] ??
    (ending >= 99_000 && ending < 99_100 ? String(ending - 99_000).padStart(2, '0') : undefined);
  if (code === undefined) return undefined;
  return approvals.includes(code)
    ? { ending, meaning: 'approved' }
    : { ending, declined: code, meaning: `declined ${code}` };
}
