import type { Faults } from './fault.ts';

export const faultsOfExchanges: Faults = {
  'exchange-after-the-send': {
    does: 'An operation gets its row in the exchange log only when its outcome is known.',
    edits: [
      {
        within: 'exchangesBetween',
        replace: 'if (isNews)',
        by: 'if (isNews && after.isChallenged)',
      },
    ],
  },
};
