import type { Faults } from './fault.ts';

export const faultsOfBegunPayments: Faults = {
  'charge-moves-after-silence': {
    does: 'A charge moves to the next terminal although its bank may have received it.',
    edits: [
      {
        within: 'mayReroute',
        replace: "const neverSent = answer.outcome === 'notSent' && answer.noBytesSent === true;",
        by: "const neverSent = answer.outcome === 'notSent' || answer.outcome === 'unknown';",
      },
      {
        within: 'openChargeRouting',
        replace: 'const row = notAway(idsOf ? await takingIdsOf(idsOf.bankId, open) : open);',
        by: 'const row = notAway((idsOf ? await takingIdsOf(idsOf.bankId, open) : open).toReversed());',
      },
    ],
    newNames: ['toReversed'],
  },
};
