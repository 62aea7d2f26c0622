import type { Faults } from './fault.ts';

export const faultsOfRecurringCharges: Faults = {
  'amount-not-compared': {
    does: 'A charge without the payer may have any amount.',
    edits: [
      {
        within: 'compareWithConsent',
        replace: 'if (amount.minor > agreed.minor) {',
        by: 'if (amount.minor < 0n) {',
      },
    ],
  },
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
  'charge-in-two-transactions': {
    does: 'A charge writes its invoice and its payment apart.',
    edits: [
      {
        within: 'createCharge',
        replace: 'allOrNothing(deps.db, (db) => makeCharge(request, wish, { ...deps, db }))',
        by: 'makeCharge(request, wish, deps)',
      },
    ],
  },
  'class-of-bank-ignored': {
    does: 'A decline by an acquirer that only the payer can heal does not stop the series.',
    edits: [{ within: 'classRule', replace: 'classes?.[declineClass]', by: 'classes?.funds' }],
  },
  'configuration-starts-failures': {
    does: 'A decline for a wrong set-up starts the 31 days.',
    edits: [
      {
        within: 'afterFailure',
        replace: "(isRetry && !opens) || declineClass === 'configuration'",
        by: 'isRetry && !opens',
      },
    ],
  },
  'email-counts-as-sent': {
    does: 'A payer email that the mail server did not accept counts as sent.',
    edits: [
      {
        within: 'sendEmail',
        replace: 'await mailServer.send(outgoing)',
        by: 'await mailServer.send(outgoing).catch(() => ({ taken: true as const }))',
      },
    ],
  },
  'held-charge-forgotten': {
    does: 'A charge is made while its period has a hold, where the shop refuses it.',
    edits: [
      {
        within: 'undecidedCharge',
        replace: 'now < laterBy(heldUntil, captureUnknownMs)',
        by: 'now > laterBy(heldUntil, captureUnknownMs)',
      },
    ],
  },
  'expired-card-tried-again': {
    does: 'A decline that only another card or the payer can heal does not stop the series.',
    edits: [{ within: 'untilPayer', replace: "stop('series')", by: 'wait(1)' }],
  },
  'paused-terminal-charged': {
    does: 'A terminal that is set up wrongly keeps taking charges without the payer.',
    edits: [
      {
        within: 'notPaused',
        replace: 'until === null || until <= now',
        by: 'until === null || now !== until',
      },
    ],
  },
  'payers-stop-ignored': {
    does: 'A final decline with the payer present does not stop charges of the card.',
    edits: [
      {
        within: 'stopOfDecline',
        replace: 'finalStop(answer, packsInForce(answer.network, now))',
        by: "finalStop({ network: 'bank' }, packsInForce(answer.network, now))",
      },
    ],
  },
  'new-terms-without-authentication': {
    does: 'A payer who agrees to new terms is not authenticated.',
    edits: [
      {
        within: 'chargeOf',
        replace: "authentication: 'required',",
        by: "authentication: binding.renews ? 'none' : 'required',",
      },
    ],
  },
  'new-terms-not-kept': {
    does: 'A consent that the payer renews by a link keeps its old terms.',
    edits: [
      {
        within: 'renew',
        replace: 'await storeRenewal(deps, tx, stored, terms, now);',
        by: `await storeRenewal(deps, tx, stored, { ...terms, mandate: { ...stored.series.mandate,
      ...(terms.mandate.consent ? { consent: terms.mandate.consent } : {}) } }, now);`,
      },
    ],
  },
  'recurring-without-rules': {
    does: 'A recurring charge is always allowed.',
    edits: [
      {
        within: 'mayCharge',
        replace: 'if (decision.may) return decision;',
        by: "if (decision.may || now > '2000') return { may: true, isRetry: false, packs: [], warnings: [] };",
      },
    ],
  },
  'trial-price-not-applied': {
    does: 'The amount after a trial is not the largest one.',
    edits: [
      {
        within: 'agreedAmountAt',
        replace: 'now >= trialEndsAt',
        by: "now >= trialEndsAt && now > '9999'",
      },
    ],
  },
  'period-not-refused': {
    does: 'A second charge in one period is made where the shop refuses it.',
    edits: [
      {
        within: 'decisionAt',
        replace: "if (period && periodRule === 'refuse') {",
        by: "if (period && periodRule === 'warn') {",
      },
    ],
  },
  'zone-ignored': {
    does: 'Days are those of UTC, whatever the time zone of the shop.',
    edits: [
      {
        within: 'timeZoneOf',
        replace: "timeZone ?? (currency === 'RUB' ? 'Europe/Moscow' : 'UTC')",
        by: "(timeZone ?? currency) && 'UTC'",
      },
    ],
  },
};
