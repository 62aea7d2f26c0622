// What a bank's line beside our own record means: equal, still open, or a difference of one class, with the money at stake. Pure.
import type { Instant } from '../../../clock.ts';
import { laterBy } from '../../../clock.ts';
import { defined } from '../../../defined.ts';

/** What both sides have of an operation. */
type Content = {
  readonly kind: string;
  readonly sign: number;
  readonly minor: bigint;
  readonly currency: string;
  readonly originalId?: string;
  readonly cardMask?: string;
};

/** What a room expects of one operation (src/acquiring/reconciliation/domain/reconciliation-source.ts). */
export type ExpectedEntry = Content & {
  readonly bankId?: string;
  readonly certainty: 'done' | 'open' | 'never' | 'undone' | 'undoes' | 'may';
  readonly object: string;
  readonly objectId: string;
  readonly status: string;
  readonly partyId: string;
  readonly askedAt?: Instant;
  readonly knownAt?: Instant;
};

/** A line of the bank's book. */
export type BankLine = Content & {
  readonly sequence: number;
  /** 1 for the first line of its operation, which should be the only one. */
  readonly copy: number;
  readonly at: Instant;
};

export type Pair = {
  readonly operationId: string;
  readonly ours?: ExpectedEntry;
  readonly line?: BankLine;
  readonly isCounterpartBooked: boolean;
};

/** Whose book it is, of which time, and when something has been under way for too long. */
export type Scope = {
  readonly bankId: string;
  /** What certainly happened before is not in it, and what certainly happened from `to` on. */
  readonly from?: Instant;
  readonly to?: Instant;
  /** What was asked for before, whether in that time or earlier, and is still under way, has been for too long. */
  readonly openSince: Instant;
};

/** The most dangerous first: what it means, and what to do. */
export const differenceClasses = {
  reversal_missing: {
    means: 'The payer was charged and has not got it back, though here it failed or was given back.',
    advice: 'Have the bank give it back: its approval of our reversal, if there was one, did not count.',
  },
  unexpected_success: {
    means: 'The bank has done what failed here, or what it was never asked for.',
    advice: 'Show the bank its own answer and have it undone; if it stands, settle it with the party.',
  },
  missing_here: {
    means: 'Nobody here knows the operation.',
    advice:
      'Ask the bank where it comes from. If it is another service’s, that one must have its own secret.',
  },
  duplicate: {
    means: 'The bank has booked one operation again.',
    advice: 'Have the bank take the extra line back before it settles.',
  },
  wrong_bank: {
    means: 'Here it went to another bank.',
    advice: 'Reconcile that bank too. If both have it, have this one give it back.',
  },
  missing_at_bank: {
    means: 'Done here, and not in the bank’s book.',
    advice: 'Ask the bank for the operation by its id. Until it is found, do not count on the money.',
  },
  currency: {
    means: 'Booked in another currency.',
    advice: 'Have the bank correct it before it settles.',
  },
  kind: {
    means: 'Booked as something else: another operation, or with the money going another way.',
    advice: 'Have the bank correct it before it settles.',
  },
  amount: {
    means: 'Booked with another amount.',
    advice: 'Have the bank correct it before it settles, or settle the rest with the party.',
  },
  original: {
    means: 'Booked against another operation than it belongs to.',
    advice: 'Have the bank correct it: the money may have gone to another payer.',
  },
  card: {
    means: 'Booked on another card.',
    advice: 'Have the bank correct it: the money of another card was moved.',
  },
  hold_not_released: {
    means: 'The bank holds money on the card, though here the payment is over.',
    advice: 'Have the bank let it go; else the payer waits until the hold ends by itself.',
  },
  final_at_bank: {
    means: 'The bank has done it, and here it has been under way for too long.',
    advice: 'See `mandate jobs stuck`; `mandate jobs retry` asks the bank again, and it is learned.',
  },
  pending_too_long: {
    means: 'Under way here for too long, and not in this book of the bank.',
    advice:
      'See `mandate jobs stuck`. Its money stays set aside until the bank has said what became of it; the book of another time may have it.',
  },
} as const;

export type DifferenceClass = keyof typeof differenceClasses;

export type Difference = {
  readonly class: DifferenceClass;
  readonly operationId: string;
  /** What the bank has for us beyond our own books; below zero, what it has less. Of what is under way, all of it. */
  readonly atStakeMinor: bigint;
  readonly currency: string;
  readonly ours?: ExpectedEntry;
  readonly line?: BankLine;
};

/** `edge`: it happened about when the book begins or ends, so that it may as well be in the one before or after. */
export type Classification = Difference | 'equal' | 'open' | 'edge';

export function classify(pair: Pair, scope: Scope): Classification {
  const { ours, line } = pair;
  if (!ours) return line ? difference('missing_here', pair, worth(line), line) : 'equal';
  if (!line) return isElsewhere(ours, scope) ? 'equal' : classifyMissing(pair, ours, scope);
  if (line.copy > 1) return difference('duplicate', pair, worth(line), line);
  if (isElsewhere(ours, scope)) return difference('wrong_bank', pair, worth(line), line);
  return classifyBooked(pair, ours, line, scope);
}

function classifyMissing(pair: Pair, ours: ExpectedEntry, scope: Scope): Classification {
  switch (ours.certainty) {
    case 'never':
    case 'undone':
    case 'undoes':
    case 'may':
      return 'equal';
    case 'open':
      return isTooLong(ours, scope) && isAskedBeforeEnd(ours, scope)
        ? difference('pending_too_long', pair, worth(ours), ours)
        : 'open';
    case 'done':
      if (isAfterStart(ours, scope) && isBeforeEnd(ours, scope)) {
        return difference(ours.kind === 'reverse' ? kept(ours) : 'missing_at_bank', pair, -worth(ours), ours);
      }
      return 'edge';
  }
}

function classifyBooked(pair: Pair, ours: ExpectedEntry, line: BankLine, scope: Scope): Classification {
  const { isCounterpartBooked } = pair;
  switch (ours.certainty) {
    case 'never':
      return difference('unexpected_success', pair, worth(line), line);
    case 'undone':
      if (isCounterpartBooked) return classifyContent(pair, ours, line);
      return isBeforeEnd(ours, scope) ? difference(kept(ours), pair, worth(line), line) : 'edge';
    case 'undoes':
      if (isCounterpartBooked) return classifyContent(pair, ours, line);
      // It gives back what was never taken.
      return isAfterStart(ours, scope) ? difference('unexpected_success', pair, worth(line), line) : 'edge';
    case 'open': {
      const content = classifyContent(pair, ours, line);
      if (content !== 'equal') return content;
      return isTooLong(ours, scope) ? difference('final_at_bank', pair, worth(line), line) : 'open';
    }
    case 'done':
    case 'may':
      return classifyContent(pair, ours, line);
  }
}

function classifyContent(pair: Pair, ours: ExpectedEntry, line: BankLine): Classification {
  if (line.currency !== ours.currency) return difference('currency', pair, -worth(ours), ours);
  if (line.kind !== ours.kind || line.sign !== ours.sign) {
    const moved = BigInt(line.sign) * line.minor - BigInt(ours.sign) * ours.minor;
    return difference('kind', pair, line.sign === 0 ? -worth(ours) : moved, line);
  }
  if (line.minor !== ours.minor) return difference('amount', pair, worth(line) - worth(ours), line);
  if (line.originalId !== undefined && line.originalId !== ours.originalId)
    return difference('original', pair, worth(line), line);
  if (line.cardMask !== undefined && ours.cardMask !== undefined && !isSameCard(line.cardMask, ours.cardMask))
    return difference('card', pair, worth(line), line);
  return 'equal';
}

function difference(
  name: DifferenceClass,
  { operationId, ours, line }: Pair,
  atStakeMinor: bigint,
  { currency }: { readonly currency: string },
): Difference {
  return { class: name, operationId, atStakeMinor, currency, ...defined({ ours, line }) };
}

/** For us; money that is only held counts as if it were taken, and letting it go as if it were given back. */
function worth({ kind, sign, minor }: Pick<BankLine, 'kind' | 'sign' | 'minor'>): bigint {
  const direction = sign !== 0 ? sign : kind === 'reverse' ? -1 : 1;
  return BigInt(direction) * minor;
}

/** What the payer lacks when a reversal is missing: money that was held, or that was taken. */
function kept({ sign }: ExpectedEntry): DifferenceClass {
  return sign === 0 ? 'hold_not_released' : 'reversal_missing';
}

function isElsewhere(ours: ExpectedEntry, { bankId }: Scope): boolean {
  return ours.bankId !== bankId;
}

function isTooLong({ askedAt }: ExpectedEntry, { openSince }: Scope): boolean {
  return askedAt !== undefined && askedAt < openSince;
}

function isAskedBeforeEnd({ askedAt }: ExpectedEntry, { to }: Scope): boolean {
  return to === undefined || askedAt === undefined || askedAt < to;
}

/** As far as the clocks of both sides may be apart: further, and neither accepts the other's signature. */
export const clocksApartMs = 300_000;

/** What is not known when it happened is taken for certain: better an alarm too many. */
function isAfterStart({ askedAt }: ExpectedEntry, { from }: Scope): boolean {
  return from === undefined || askedAt === undefined || askedAt >= laterBy(from, clocksApartMs);
}

function isBeforeEnd({ knownAt }: ExpectedEntry, { to }: Scope): boolean {
  return to === undefined || knownAt === undefined || knownAt < laterBy(to, -clocksApartMs);
}

/** How many stars hide the middle is a matter of taste. */
function isSameCard(a: string, b: string): boolean {
  return a.slice(0, 6) === b.slice(0, 6) && a.slice(-4) === b.slice(-4);
}
