import type { Faults } from './fault.ts';

export const faultsOfRecurringCharges: Faults = {
  'binding-return-not-posted': {
    does: 'The refund of a verification charge is not posted to the ledger.',
    edits: [
      {
        within: 'journalOf',
        replace: "if (type === 'binding_succeeded') return bindingReturned(binding);",
        by: "if (type === 'binding_succeeded') return undefined;",
      },
    ],
  },
  'email-counts-as-sent': {
    does: 'A payer email that the mail server did not accept counts as sent.',
    edits: [
      {
        within: 'runPayerEmailJob',
        replace: 'await mailServer.send(outgoing)',
        by: 'await mailServer.send(outgoing).catch(() => ({ taken: true as const }))',
      },
    ],
  },
  'recurring-without-rules': {
    does: 'A recurring charge is always allowed.',
    edits: [
      {
        within: 'mayCharge',
        replace: 'if (verdict.may) return verdict;',
        by: "if (verdict.may || now > '2000') return { may: true, isRetry: false, packs: [], warnings: [] };",
      },
    ],
  },
};
