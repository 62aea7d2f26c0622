// Lets a job send a bank operation without doing it twice: its ID is stored first, so any node can query the status. Whether a job wants
// to send, it has decided before.
import { laterBy, type Clock } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { abilitiesOfVersion1 } from './domain/abilities.ts';
import type { Bank, BankOperation, BankResponse, IsTooLate } from './domain/bank-port.ts';
import { leaseMs, NoPlaceNow } from '../platform/jobs/job-table.ts';
import { contentOf } from './exchange-log/domain/exchange.ts';
import { isRemembered } from './exchange-log/domain/memory.ts';
import { digestOf, findExchange } from './exchange-log/store/exchange-rows.ts';

/** Used if the adapter does not say when. */
const usualAgainMs = 5_000;

/** For an answer that proves nothing. If the bank only takes no more now, the job has not failed. */
export function unproved(why: string, answer?: BankResponse): OutcomeUnknown | NoPlaceNow {
  if (answer?.outcome === 'notSent' && answer.turnedAway)
    return new NoPlaceNow(why, answer.againInMs ?? usualAgainMs);
  return new OutcomeUnknown(why, answer);
}

/** The answer of which `unproved` makes it again. */
export function turnedAwayBy({ message, againInMs }: NoPlaceNow): BankResponse {
  return { outcome: 'notSent', why: message, turnedAway: true, againInMs };
}

/** The bank's response proves nothing. The job is retried with growing delays, then stuck. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
  /** The bank was silent or unreachable, or refused the signature. Its health says when it goes away and comes back. */
  readonly isOutage: boolean;

  constructor(why: string, answer?: BankResponse) {
    super(why);
    this.isOutage = answer !== undefined && isAbsence(answer);
  }
}

function isAbsence(answer: BankResponse): boolean {
  if ('isUnauthorised' in answer) return true;
  if (answer.outcome === 'unknown') return answer.isSilence === true;
  return answer.outcome === 'notSent' && answer.noBytesSent === true;
}

export const whyOnlyInquired =
  'it may have been sent before, and the bank no longer recognises a repeat: it is only queried';

export type Sending<Refused> = {
  readonly db: Pick<Database, 'run'>;
  readonly bank: Bank;
  readonly operation: BankOperation;
  /** Of the job. No node can have sent on attempt 1. */
  readonly attempt: number;
  /** Of the job. */
  readonly clock: Clock;
  /** Query the status even on attempt 1. */
  readonly inquiresFirst?: boolean;
  /** Replaces the sending of the operation as it is. It passes `isTooLate` on: before the first byte a node may stand still for hours. */
  readonly send?: (isTooLate: IsTooLate) => Promise<BankResponse | Refused>;
  /** The reason not to send what the bank never received; undefined to send it. */
  readonly refuse?: (notFound: BankResponse) => Refused | undefined | Promise<Refused | undefined>;
};

/**
 * Sends directly only when no node can have sent the operation before. Otherwise it sends a follow-up again, which the bank recognises, and
 * for any other operation queries the status and sends what the bank never received.
 */
export async function sendOrInquire<Refused = never>(
  sending: Sending<Refused>,
): Promise<BankResponse | Refused> {
  const { bank, operation, attempt, inquiresFirst = false, refuse } = sending;
  const isTooLate = attempt === 1 ? tooLateForFirst(sending) : await tooLateForRepeat(sending);
  const { send = () => bank.send(operation, undefined, isTooLate) } = sending;
  if (attempt === 1 && !inquiresFirst) return send(isTooLate);
  const maySend = !isTooLate();
  if (maySend && isFollowUp(operation)) return send(isTooLate);
  const response = await bank.inquire(operation);
  if (response.outcome !== 'notFound') return response;
  if (!maySend) return { outcome: 'unknown', why: whyOnlyInquired };
  return (await refuse?.(response)) ?? send(isTooLate);
}

/** When the lease has ended, another node may send it again, and the bank may then forget that. */
function tooLateForFirst({ bank, clock }: Sending<unknown>): IsTooLate {
  const startedAt = clock.now();
  const leasedUntil = laterBy(startedAt, leaseMs);
  return () => {
    const now = clock.now();
    return now >= leasedUntil && !isRemembered(startedAt, bank.knownAbilities() ?? abilitiesOfVersion1, now);
  };
}

async function tooLateForRepeat({ db, bank, operation, clock }: Sending<unknown>): Promise<IsTooLate> {
  const [exchange, abilities] = await Promise.all([
    findExchange(db, operation.operationId),
    bank.abilities(),
  ]);
  const isAnother = exchange !== undefined && exchange.digest !== digestOf(contentOf(operation));
  return () => isAnother || !isRemembered(exchange?.begunAt, abilities, clock.now());
}

/** It moves no more money than its original, so a block or a revoked consent is no reason to ask first. */
function isFollowUp({ kind }: BankOperation): boolean {
  return kind === 'capture' || kind === 'refund' || kind === 'reverse';
}
