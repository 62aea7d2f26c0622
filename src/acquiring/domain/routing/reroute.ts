// Decides when a payment or a verification charge moves to another terminal of its shop.
// What may have reached one bank is never sent to another.
import type { BankResponse, Terminal } from '../bank-port.ts';
import type { Instant } from '../../../clock.ts';
import type { WantedCharge } from '../missing-ability.ts';

/** What another terminal has to stand in for. */
export type StandIn = {
  /** It is none of them. */
  readonly terminal?: Terminal;
  /** Of a charge without the payer. */
  readonly chargedAt?: Instant;
  /** Whose network IDs the charge carries. */
  readonly idsOf?: Terminal;
  /** The terminal of a hold. */
  readonly heldAt?: Terminal;
  readonly wanted?: WantedCharge;
};

/** The part of a payment or binding that the rule needs. */
export type Reroutable = { readonly state: { readonly name: string }; readonly isSteppedUp?: true };

/**
 * Only the node that created the charge may reroute it, on attempt 1: a later attempt cannot know what an earlier one
 * sent. The store checks with `isFirstAttempt` that no other node has claimed the job since.
 */
export function mayReroute(
  { state, isSteppedUp }: Reroutable,
  answer: BankResponse,
  attempt: number,
  { now, until }: { readonly now: Instant; readonly until: Instant },
): boolean {
  // A payment that is stepped up stays with the bank that asked for it.
  if (isSteppedUp) return false;
  return wasLeftHere(answer) && attempt === 1 && state.name === 'authorising' && now < until;
}

/** The bank was not reached, says so, or refused the signature before it read the message; or there was none. `notFound` proves nothing. */
export function isProvedUndone(answer: BankResponse): boolean {
  if (wasLeftHere(answer) || saysUndone(answer)) return true;
  return answer.outcome === 'notSent' && (answer.isUnauthorised === true || answer.notBuilt === true);
}

/** The bank says so about the ID, and so about earlier messages. A refused signature says nothing of the ID. */
export function saysUndone(answer: BankResponse): boolean {
  return answer.outcome === 'notSent' && answer.notDone === true;
}

/** The bank was not reached, takes no more now, or declares that it cannot do it. That says nothing about an earlier message. */
export function wasLeftHere(answer: BankResponse): boolean {
  return 'noBytesSent' in answer || 'turnedAway' in answer;
}

export function rerouted(
  terminal: Terminal,
  answer: BankResponse,
): { readonly terminal: Terminal; readonly why: string } {
  const why = 'why' in answer ? answer.why : 'code' in answer ? answer.code : answer.outcome;
  return { terminal, why };
}
