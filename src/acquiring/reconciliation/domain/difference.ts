// Classifies a line of the bank's report and Mandate's record of it: equal, open, or a difference with the money at stake.
import type { Instant } from '../../../clock.ts';
import { laterBy } from '../../../clock.ts';
import { defined } from '../../../defined.ts';

/** The fields both sides have. */
type Content = {
  readonly kind: string;
  readonly sign: number;
  readonly minor: bigint;
  readonly currency: string;
  readonly originalId?: string;
  readonly cardMask?: string;
};

export const certainties = [
  /** The report must have it. */
  'done',
  /** The outcome is unknown, so the report may have it. */
  'open',
  /** It failed or was not sent, so the report must not have it. */
  'never',
  /** It was reversed: the report may have it, but only together with its reversal. */
  'undone',
  /** The reversal of `undone`: the report has both or neither. */
  'undoes',
  /** It was resolved outside the bank, so the report may have it or not. */
  'may',
] as const;
export type Certainty = (typeof certainties)[number];

/** What a module expects in the report for one operation; see source.store.ts. */
export type ExpectedEntry = Content & {
  readonly bankId?: string;
  readonly certainty: Certainty;
  readonly object: string;
  readonly objectId: string;
  readonly status: string;
  readonly partyId: string;
  readonly askedAt?: Instant;
  readonly knownAt?: Instant;
};

/** A line of the bank's transaction report. */
export type BankLine = Content & {
  readonly sequence: number;
  /** 1 for the first line of an operation; a second line is a duplicate. */
  readonly copy: number;
  readonly at: Instant;
};

export type Pair = {
  readonly operationId: string;
  readonly ours?: ExpectedEntry;
  readonly line?: BankLine;
  readonly isCounterpartBooked: boolean;
};

/** The bank and the period of the report, and the limit for pending operations. */
export type Scope = {
  readonly bankId: string;
  /** The report has nothing that certainly happened before `from`, or at `to` and later. */
  readonly from?: Instant;
  readonly to?: Instant;
  /** An operation first sent before this and still pending has been pending for too long. */
  readonly openSince: Instant;
};

/** Most dangerous first. */
export const differenceClasses = {
  reversal_missing: {
    means:
      'The payer was charged and not refunded, although the operation failed or was reversed in Mandate.',
    advice: 'Have the bank refund it. If it approved a reversal, that reversal had no effect.',
  },
  unexpected_success: {
    means: 'The bank did an operation that failed in Mandate or was never sent.',
    advice: 'Show the bank its own response and have it reversed. If it stands, agree on it with the party.',
  },
  missing_here: {
    means: 'Mandate has no record of the operation.',
    advice: 'Ask the bank for its origin. If another service sent it, give that service its own secret.',
  },
  return_missing: {
    means: 'A payout came back, and Mandate has not recorded it.',
    advice:
      'Record it: run `mandate payout returned` with the ID of the withdrawal, which the operation ID begins with.',
  },
  duplicate: {
    means: 'The bank reports the operation again.',
    advice: 'Have the bank remove the extra line before settlement.',
  },
  wrong_bank: {
    means: 'Mandate sent the operation to another bank.',
    advice: 'Reconcile that bank too. If both have it, have this one refund it.',
  },
  missing_at_bank: {
    means: 'Done in Mandate, but missing from the bank’s transaction report.',
    advice: 'Ask the bank for the operation by its ID. Do not count on the money until it is found.',
  },
  currency: {
    means: 'Reported in another currency.',
    advice: 'Have the bank correct it before settlement.',
  },
  kind: {
    means: 'Reported as another kind of operation, or in the opposite direction.',
    advice: 'Have the bank correct it before settlement.',
  },
  amount: {
    means: 'Reported with another amount.',
    advice: 'Have the bank correct it before settlement, or agree on the rest with the party.',
  },
  original: {
    means: 'Reported for another original operation.',
    advice: 'Have the bank correct it: the money may have gone to another payer.',
  },
  card: {
    means: 'Reported on another card.',
    advice: 'Have the bank correct it: money of another card was moved.',
  },
  hold_not_released: {
    means: 'The bank holds money on the card, although the payment has ended in Mandate.',
    advice: 'Have the bank release it. Otherwise the payer waits until the hold expires.',
  },
  final_at_bank: {
    means: 'Done at the bank, but pending in Mandate for too long.',
    advice:
      'Find it with `mandate jobs stuck` and run `mandate jobs retry`, which queries the bank and records the outcome.',
  },
  pending_too_long: {
    means: 'Pending in Mandate for too long, and not in this transaction report.',
    advice:
      'See `mandate jobs stuck`. The money stays reserved until the bank reports the outcome. The report of another period may have it.',
  },
} as const;

export type DifferenceClass = keyof typeof differenceClasses;

export type Difference = {
  readonly class: DifferenceClass;
  readonly operationId: string;
  /** Positive: the bank has more money for Mandate than the ledger says. Of a pending operation, the whole amount. */
  readonly atStakeMinor: bigint;
  readonly currency: string;
  readonly ours?: ExpectedEntry;
  readonly line?: BankLine;
};

/** `edge`: so close to the start or end of the report that the one before or after may have it. */
export type Classification = Difference | 'equal' | 'open' | 'edge';

export function classify(pair: Pair, scope: Scope): Classification {
  const { ours, line } = pair;
  if (!ours) {
    if (!line) return 'equal';
    return difference(line.kind === 'return' ? 'return_missing' : 'missing_here', pair, worth(line), line);
  }
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
      // It reverses a charge that was never made.
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

/** The value for Mandate. A hold counts as a charge, and its release as a refund. */
function worth({ kind, sign, minor }: Pick<BankLine, 'kind' | 'sign' | 'minor'>): bigint {
  const direction = sign !== 0 ? sign : kind === 'reverse' ? -1 : 1;
  return BigInt(direction) * minor;
}

/** The class of a missing reversal, for a hold or a charge. */
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

/** How far the two clocks may differ. Beyond that, neither side accepts the other's signature. */
export const clocksApartMs = 300_000;

/** An operation without a known time counts as certain: a false alarm is better than a missed one. */
function isAfterStart({ askedAt }: ExpectedEntry, { from }: Scope): boolean {
  return from === undefined || askedAt === undefined || askedAt >= laterBy(from, clocksApartMs);
}

function isBeforeEnd({ knownAt }: ExpectedEntry, { to }: Scope): boolean {
  return to === undefined || knownAt === undefined || knownAt < laterBy(to, -clocksApartMs);
}

/** Banks mask the middle with different numbers of stars. */
function isSameCard(a: string, b: string): boolean {
  return a.slice(0, 6) === b.slice(0, 6) && a.slice(-4) === b.slice(-4);
}
