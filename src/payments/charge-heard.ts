// What an answer says about the bank itself: whether charges that Mandate begins automatically fail there by a fault.
import type { BankResponse } from '../acquiring/domain/bank-port.ts';
import type { ChargeHeard } from '../acquiring/domain/charge-heard.ts';
import { epochMsOf, type Instant } from '../clock.ts';
import { declineClassOf } from '../retry-rules/domain/rule-packs.ts';
import type { Payment } from './domain/payment.ts';

/** A test clock that is ahead moves through months within minutes, so what happens on it is no herd. */
const aheadMs = 60_000;

/** Undefined if it says nothing, as of a charge that Mandate has not begun. */
export function chargeHeard(
  { partyId, terminal, payer }: Pick<Payment, 'partyId' | 'terminal' | 'payer'>,
  answer: BankResponse,
  at: Instant,
  nodeNow: Instant,
): ChargeHeard | undefined {
  const ended = endOf(answer, at);
  if (!ended || !('seriesId' in payer) || payer.subscriptionId === undefined) return undefined;
  if (epochMsOf(at) - epochMsOf(nodeNow) > aheadMs) return undefined;
  return { bankId: terminal.bankId, partyId, ended, isRetry: payer.retry !== undefined };
}

function endOf(answer: BankResponse, at: Instant): ChargeHeard['ended'] | undefined {
  switch (answer.outcome) {
    case 'approved':
      return 'other';
    case 'unknown':
      return 'technical';
    case 'notSent':
      // A charge that cannot be sent does not get through either. One that waits for a place will.
      return answer.noBytesSent ? 'technical' : undefined;
    case 'declined': {
      const declined = declineClassOf(answer, at);
      if (declined === 'technical' || declined === 'configuration') return 'technical';
      return declined === 'vague' ? 'vague' : 'other';
    }
    default:
      return undefined;
  }
}
