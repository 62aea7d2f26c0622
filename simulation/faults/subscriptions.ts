import type { Faults } from './fault.ts';

export const faultsOfSubscriptions: Faults = {
  'cancelled-subscription-charged': {
    does: 'A subscription is charged once more after the period with which it ends.',
    edits: [
      {
        within: 'nextPeriod',
        replace: 'endsAfter && number > endsAfter.number',
        by: 'endsAfter && number > endsAfter.number + 1',
      },
    ],
  },
  'change-charged-again': {
    does: 'The invoice of a change is charged again and again while the card does not pay it.',
    edits: [
      {
        within: 'afterChangeCharge',
        replace: '...defined({ tryAt: retryAt })',
        by: 'tryAt: now',
      },
    ],
  },
  'change-credit-forgotten': {
    does: 'A change gives no credit for the unused time of the old items.',
    edits: [
      {
        within: 'amounts',
        replace: "credit === 'none' ? []",
        by: "credit === 'none' || credit === 'unused' ? []",
      },
    ],
  },
  'change-credited-twice': {
    does: 'A cheaper change gives its credit twice.',
    edits: [
      {
        within: 'afterItems',
        replace: '- fromBalanceMinor + credited',
        by: '- fromBalanceMinor + 2n * credited',
      },
    ],
  },
  'charge-of-another-name': {
    does: 'A subscription waits for another payment than the one that it has started.',
    edits: [
      {
        within: 'idsFor',
        replace: '(made?.invoice.paymentsMade ?? 0) + 1',
        by: '(made?.invoice.paymentsMade ?? 0) + 2',
      },
      {
        within: 'doNext',
        replace: "payment.value.id !== charge.paymentId.split('.')[1]",
        by: "charge.paymentId === ''",
      },
    ],
  },
  'charge-under-a-new-id': {
    does: 'A charge that is sent again has another operation ID.',
    edits: [
      {
        within: 'authorisedOf',
        replace: "operationId: operationIdOf(payment, 'authorise'),",
        by: "operationId: `${operationIdOf(payment, 'authorise')}${Math.floor(Math.random() * 9)}`,",
      },
    ],
  },
  'day-of-utc': {
    does: 'Periods start at the midnight of UTC instead of their zone.',
    edits: [
      { within: 'periodTimes', replace: 'startOfDay(startDay, zone)', by: "startOfDay(startDay, 'UTC')" },
    ],
  },
  'end-refund-failure-lost': {
    does: 'A refund of an end that has failed is shown as if it had not.',
    edits: [
      {
        within: 'heardOfRefunds',
        replace: "if (status === 'failed') facts.push(",
        by: "if (status === 'failed' && isPending) facts.push(",
      },
    ],
  },
  'first-period-charged-twice': {
    does: 'A subscription that the payer has paid the first period of asks for it again.',
    edits: [
      {
        within: 'decideFirstPaymentCaptured',
        replace: "return accept([started, { type: 'period_created', period }]);",
        by: 'return accept(period ? [started] : []);',
      },
    ],
  },
  'first-payment-ignored': {
    does: 'A subscription ends as if its first payment were missing.',
    edits: [
      { within: 'heardOfStart', replace: 'started?.ok ? started.value : []', by: 'started?.ok ? [] : []' },
    ],
  },
  'dunning-window-ignored': {
    does: 'A period is retried for longer than its dunning policy says.',
    edits: [{ within: 'givesUpAt', replace: 'windowDays * dayMs', by: '(windowDays + 2) * dayMs' }],
  },
  'outage-charged-in-full': {
    does: 'After an outage all periods that are due are charged at once.',
    edits: [{ within: 'createFor', replace: 'next === charged && !isTooLate', by: '!isTooLate' }],
  },
  'pause-charged': {
    does: 'A period that started during a pause and continues after it is charged in full.',
    edits: [
      { within: 'createAfterPause', replace: 'chargedFrom: until', by: 'chargedFrom: running.startsAt' },
    ],
  },
  'period-asked-for-twice': {
    does: 'A period has a second invoice.',
    edits: [
      {
        within: 'perform',
        replace: 'await invoicePeriod(tx, after, effect.period, now, merchants);',
        by:
          "for (const id of [effect.period.invoiceId, effect.period.invoiceId + '2'])" +
          ' await invoicePeriod(tx, after, { ...effect.period, invoiceId: id }, now, merchants);',
      },
    ],
  },
  'period-begins-again': {
    does: 'The second period has the dates of the first one, and no row.',
    edits: [
      {
        within: 'nextPeriod',
        replace: 'periodDates(schedule, number)',
        by: 'periodDates(schedule, number === 2 ? 1 : number)',
      },
      {
        within: 'change_subscriptions',
        replace: '"creditMinor", outcome, "invoiceId" from created ), period_ended as (',
        by: '"creditMinor", outcome, "invoiceId" from created on conflict do nothing ), period_ended as (',
      },
    ],
  },
  'period-skipped': {
    does: 'Every second period has no row and no charge.',
    edits: [{ within: 'nextPeriod', replace: 'after ? after.number + 1', by: 'after ? after.number + 2' }],
  },
  'retry-with-a-new-invoice': {
    does: 'Another attempt to charge a period has an invoice of its own.',
    edits: [
      {
        within: 'idsFor',
        replace: 'return { invoiceId, paymentId,',
        by:
          "const ofRetry = next.does === 'charge' && made ? ids.next() : undefined;" +
          ' return { invoiceId: ofRetry ?? invoiceId, paymentId: ofRetry ? `${ofRetry}.1` : paymentId,',
      },
      {
        within: 'writeFacts',
        replace: 'let isPaying = false;',
        by:
          "let isPaying = false; for (const fact of facts) if (fact.type === 'charge_started') {" +
          ' const period = after.open.find(({ number }) => number === fact.number);' +
          " const [invoiceId = ''] = fact.paymentId.split('.');" +
          ' if (period && period.invoiceId !== invoiceId)' +
          ' await invoicePeriod(tx, after, { ...period, invoiceId }, now, merchants); }',
      },
    ],
    newNames: ['ofRetry'],
  },
  'subscription-email-forgotten': {
    does: 'The payer of a subscription gets no email at its start.',
    edits: [
      {
        within: 'emailsFor',
        replace: 'if (email) emails.set(email.kind, email);',
        by: "if (email && email.kind !== 'started') emails.set(email.kind, email);",
      },
    ],
  },
  'subscription-never-woken': {
    does: 'A subscription with nothing unpaid is not woken for its next period.',
    edits: [
      {
        within: 'wakeForPeriods',
        replace: 'if (!oldest) return next;',
        by: 'if (!oldest) return undefined;',
      },
    ],
  },
  'subscription-version-ignored': {
    does: 'A change of a subscription overwrites another one that was written meanwhile.',
    edits: [
      {
        within: 'change_subscriptions',
        replace: 'and subscription.version = ready.version for no key update ) as found',
        by: 'for no key update ) as found',
      },
      {
        within: 'change_subscriptions',
        replace: 'and subscription.version = ready.version for no key update skip locked',
        by: 'for no key update skip locked',
      },
    ],
  },
  'unpaid-shown-as-paid': {
    does: 'A webhook event shows a period as paid that was given up or forgiven.',
    edits: [
      {
        within: 'closedBy',
        replace: "fact.type === 'period_closed' ? fact.outcome : 'paid'",
        by: "fact.type === 'period_paid' ? 'paid' : 'paid'",
      },
    ],
  },
  'woken-too-early': {
    does: 'A subscription that is woken does its next thing, although it is not due.',
    edits: [
      {
        within: 'decideWake',
        replace: 'if (!next || next.at > now) return [];',
        by: 'if (!next) return [];',
      },
      { within: 'takeTurn', replace: 'next !== undefined && next.at <= now', by: 'next !== undefined' },
    ],
  },
};
