import type { Faults } from './fault.ts';

export const faultsOfBegunPayments: Faults = {
  'charge-moves-after-silence': {
    does: 'A charge moves to the next terminal although its bank may have received it.',
    edits: [
      {
        within: 'mayReroute',
        replace: 'return wasLeftHere(answer) && attempt === 1',
        by: "return (answer.outcome === 'notSent' || answer.outcome === 'unknown') && attempt === 1",
      },
      {
        within: 'openChargeRouting',
        replace: 'const row = notAway(idsOf ? await takingIdsOf(idsOf.bankId, open) : open);',
        by: 'const row = notAway((idsOf ? await takingIdsOf(idsOf.bankId, open) : open).toReversed());',
      },
    ],
    newNames: ['toReversed'],
  },
  'charge-unknown-is-failed': {
    does: 'A charge with an unknown outcome counts as failed.',
    edits: [
      {
        within: 'meaningForAuthorisation',
        replace: 'const sendUntil = sendUntilOf(payment);',
        by: `if (answer.outcome === 'unknown')
    return one({ type: 'payment_failed', failure: deadlineReached });
  const sendUntil = sendUntilOf(payment);`,
      },
    ],
  },
  'deadline-without-reversal': {
    does: 'A payment fails at its deadline without a reversal at the bank.',
    edits: [
      {
        within: 'meaningForAuthorisation',
        replace: "return one({ type: 'payment_reversal_started', failure: meaning.failure });",
        by: "return one({ type: 'payment_failed', failure: meaning.failure });",
      },
    ],
  },
  'silence-shown-after-an-hour': {
    does: 'Operators see a payment as waiting only an hour after its bank was silent.',
    edits: [
      {
        within: 'overviewColumns',
        replace: 'payment.stuck_reason is not null or payment.status in',
        by: "payment.stuck_at is not null or invoice.changed_at <= :now - interval '1 hour' and payment.status in",
      },
    ],
  },
};
