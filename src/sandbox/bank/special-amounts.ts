// Amounts that make the simulated bank behave in a special way, by their last five digits. docs/simulated-bank.md shows
// this table; a test compares them.
import type { OperationKind } from '../../acquiring/adapters/http/messages.ts';
import type { FaultKind } from './faults.ts';

export type SpecialAmount = {
  readonly ending: number;
  /** Which operations it concerns; all that have an amount where nothing is said. */
  readonly on?: OperationKind;
  readonly declined?: string;
  readonly advice?: string;
  /** Played once for each operation, when it is first sent. */
  readonly fault?: FaultKind;
  /** Played this many times instead. */
  readonly times?: number;
  /** The bank has it and is not finished before that; `for ever` means for ever. */
  readonly waits?: 'two minutes' | 'for ever';
  readonly bookedTwice?: true;
  readonly meaning: string;
};

export const specialAmounts: readonly SpecialAmount[] = [
  {
    ending: 99901,
    fault: 'no-answer-after-booking',
    meaning: 'done, but no answer ever comes',
  },
  { ending: 99902, fault: 'slow-answer', meaning: 'done, and answered after 40 seconds' },
  { ending: 99903, fault: 'reset-before-booking', meaning: 'not done, the connection breaks' },
  { ending: 99904, fault: 'foreign-answer-after-booking', meaning: 'done, answered as another operation' },
  { ending: 99905, fault: 'duplicate-callback', meaning: 'its callback comes twice' },
  { ending: 99906, fault: 'split-answer', meaning: 'done, the answer comes byte by byte' },
  { ending: 99907, advice: '03', meaning: 'approved, with the advice never to try again' },
  { ending: 99908, declined: '51', advice: '27', meaning: 'declined 51, with the advice to wait four days' },
  { ending: 99909, declined: 'R1', meaning: 'declined R1: the payer ends all charges of this merchant' },
  {
    ending: 99910,
    declined: '05',
    advice: '21',
    meaning: 'declined 05, with the advice that the payer ended it',
  },
  { ending: 99911, declined: '65', meaning: 'declined 65: too often, or authentication wanted' },
  { ending: 99912, declined: '10', meaning: 'declined 10: only a part could be had' },
  {
    ending: 99913,
    on: 'reverse',
    fault: 'reset-after-booking',
    times: 2,
    meaning: 'its reversal is answered only when it is sent a third time',
  },
  { ending: 99914, on: 'capture', declined: '25', meaning: 'its capture is declined 25' },
  {
    ending: 99915,
    on: 'payout',
    fault: 'reset-after-booking',
    waits: 'two minutes',
    meaning: 'the connection breaks; inquiries say pending, and approved after two minutes',
  },
  {
    ending: 99916,
    on: 'payout',
    fault: 'reset-after-booking',
    waits: 'for ever',
    meaning: 'the connection breaks; inquiries say pending for ever, and it never gets into the book',
  },
  { ending: 99917, bookedTwice: true, meaning: 'approved, and in the book twice' },
  { ending: 99920, fault: 'no-answer-before-booking', meaning: 'not done, and no answer ever comes' },
  { ending: 99921, fault: 'reset-after-booking', meaning: 'done, the connection breaks' },
  { ending: 99922, fault: 'error-before-booking', meaning: 'not done, status 500' },
  { ending: 99923, fault: 'error-after-booking', meaning: 'done, status 500' },
  { ending: 99924, fault: 'garbage-after-booking', meaning: 'done, answered with something that is no JSON' },
  { ending: 99925, fault: 'not-done', meaning: 'not done, status 503 with the word notDone' },
  { ending: 99926, fault: 'lost-callback', meaning: 'its callback never comes' },
  { ending: 99927, fault: 'late-callback', meaning: 'its callback comes 15 seconds late' },
];

/** Response codes with letters cannot stand in an amount; they have endings of their own. */
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

/** Codes of the networks that mean yes. */
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
