// Amounts with special behaviour in the simulated bank, by their last five digits.
// A test compares this table with docs/simulated-bank.md.
import type { OperationKind } from '../../acquiring/adapters/http/messages.ts';
import type { FaultKind } from './faults.ts';

export type SpecialAmount = {
  readonly ending: number;
  /** The kind of operation; without one, all kinds with an amount. */
  readonly on?: OperationKind;
  readonly declined?: string;
  readonly advice?: string;
  /** Played once per operation, on the first send. */
  readonly fault?: FaultKind;
  /** How often the fault is played, instead of once. */
  readonly times?: number;
  /** How long the operation stays pending. */
  readonly waits?: 'two minutes' | 'permanently';
  readonly bookedTwice?: true;
  readonly meaning: string;
};

export const specialAmounts: readonly SpecialAmount[] = [
  {
    ending: 99901,
    fault: 'no-answer-after-booking',
    meaning: 'done, but never answered',
  },
  { ending: 99902, fault: 'slow-answer', meaning: 'done, and answered after 40 seconds' },
  { ending: 99903, fault: 'reset-before-booking', meaning: 'not done; the connection breaks' },
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
