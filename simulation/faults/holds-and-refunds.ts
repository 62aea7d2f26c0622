import type { Faults } from './fault.ts';

export const faultsOfHoldsAndRefunds: Faults = {
  'cancelled-hold-not-voided': {
    does: 'The hold of a cancelled payment is not voided in the ledger.',
    edits: [{ within: 'journalOf', replace: 'return holdReleased(payment);', by: 'return undefined;' }],
  },
  'capture-that-failed-not-posted': {
    does: 'The shop keeps the money of a capture that has failed after it was approved.',
    edits: [
      {
        within: 'journalOf',
        replace:
          'return captureFailed({ ...payment, isAside: fact.isAside ?? false }, fact.amount, fact.feeMinor);',
        by: 'return undefined;',
      },
    ],
  },
  'challenge-forgotten': {
    does: 'A payment is never polled if its payer does not return from 3-D Secure.',
    edits: [
      {
        within: 'wakeOf',
        replace: "return nextPoll(state, now); case 'held':",
        by: "return null; case 'held':",
      },
    ],
  },
  'charge-before-the-commit': {
    does: 'A card is charged before the payment is committed.',
    edits: [
      {
        within: 'startPayment',
        replace:
          "db.afterCommit(() => jobs.run('payment', [payment.invoiceId, payment.id], now, stored.value));",
        by: "jobs.run('payment', [payment.invoiceId, payment.id], now, stored.value);",
      },
    ],
  },
  'charge-sent-late': {
    does: 'A charge is sent until its deadline, long after its payer has left.',
    edits: [
      {
        within: 'sendUntil',
        replace: 'return patience < deadline ? patience : deadline;',
        by: 'return patience < deadline ? deadline : patience;',
      },
    ],
  },
  'event-after-its-invoice': {
    does: 'An invoice is created in one statement and its event in a later one.',
    newNames: ['appendLater', 'append_later'],
    edits: [
      {
        within: 'insertInvoice',
        replace: 'changed_at, facts from made join claimed using (invoice_id)',
        by: 'changed_at, facts from made join claimed using (invoice_id) where facts is null',
      },
      {
        within: 'changeInvoiceRow',
        replace: 'const changeInvoiceRow =',
        by: `const appendLater = statement({
  name: 'append_later',
  parameters: { ...createdWith(invoiceFact), invoice_id: 'text' },
  row: { version: 'int4' },
  text: \`select append_event('invoice', invoice_id, version, party_id, changed_at, :facts) as version
    from invoice where invoice_id = :invoice_id\`,
});

const changeInvoiceRow =`,
      },
      {
        within: 'storeNewInvoice',
        replace: 'return rows.length > 0;',
        by: `const facts = [created];
  if (rows.length > 0) await db.run(appendLater, { invoice_id: invoice.id, facts });
  return rows.length > 0;`,
      },
    ],
  },
  'event-outside-the-transaction': {
    does: 'The statements of a transaction are run and committed one by one.',
    edits: [
      {
        within: 'transaction',
        replace: 'await withClient((client) => inTransaction(client, effects, work, runOn, begin))',
        by: 'await work({ ...alone, afterCommit: (effect) => effects.push(effect) })',
      },
    ],
  },
  'step-up-not-logged': {
    does: 'The second charge of a stepped-up payment is sent before it has a row.',
    edits: [
      {
        within: 'storeStepUp',
        replace: 'exchanges: exchangesOfChange(payment, after, [fact], now, answer)',
        by: 'exchanges: exchangesOfChange(payment, after, [fact], now, answer).slice(0, 1)',
      },
    ],
  },
  'hold-forgotten': {
    does: 'A hold is not handled when it expires.',
    edits: [
      {
        within: 'wakeOf',
        replace: "return flow.type === 'hold' ? flow.heldUntil : now;",
        by: "return flow.type === 'hold' ? null : now;",
      },
    ],
  },
  'invoice-without-version': {
    does: 'An invoice is changed without a check of its version.',
    edits: [
      {
        within: 'changeInvoiceRow',
        replace: 'where invoice_id = :invoice_id and version = :version',
        by: 'where invoice_id = :invoice_id and :version > 0',
      },
    ],
  },
  'undo-forgotten': {
    does: 'A charge before a step-up that is approved late is recorded, and never undone.',
    edits: [{ within: 'startUndo', replace: ':amount_minor, :happened_at', by: ':amount_minor, null' }],
  },
  'ended-hold-waits': {
    does: 'A report of the bank that a hold has ended is noted, and never applied.',
    edits: [
      {
        within: 'factsOf',
        replace: 'return ofHoldEnded(update, payment);',
        by: 'return tooEarly;',
      },
    ],
  },
  'key-runs-again': {
    does: 'A repeated request is executed again.',
    edits: [
      {
        within: 'idempotency',
        replace: "return { kind: 'replay', response: { status, body, warnings: warnings ?? undefined } };",
        by: "return { kind: 'first', response: await work(tx) };",
      },
    ],
  },
  'lost-commit-is-done': {
    does: 'A failed commit counts as committed.',
    edits: [
      {
        within: 'inTransaction',
        replace: "await client.query('commit')",
        by: "await client.query('commit').catch(() => ({ command: 'COMMIT' }))",
      },
    ],
  },
  'number-outside-the-vault': {
    does: 'The card number is stored with the client information.',
    edits: [
      {
        within: 'openTokenising',
        replace: 'client_info: given.clientInfo,',
        by: 'client_info: { ...given.clientInfo, fingerprint: card.number },',
      },
    ],
  },
  'payment-without-version': {
    does: 'A payment is changed without a check of its version.',
    edits: [
      {
        within: 'changeText',
        replace: 'payment.payment_id = :payment_id and payment.version = :version',
        by: 'payment.payment_id = :payment_id and :version > 0',
      },
    ],
  },
  'refused-capture-stays-open': {
    does: 'A capture that the bank refuses stays in progress, and its hold is not released.',
    edits: [
      {
        within: 'interpret',
        replace: 'return one(captureRefusedWith(answer.code, state.amount));',
        by: 'return notFinal(answer, now);',
      },
    ],
  },
  'refund-under-the-reversals-id': {
    does: 'The refund after a refused reversal has the ID of the reversal.',
    edits: [
      {
        within: 'followUpOf',
        replace: "operationIdOf(payment, 'undo')",
        by: "operationIdOf(payment, 'reverse')",
      },
    ],
  },
  'refused-reversal-not-refunded': {
    does: 'A charge that the bank does not reverse is left there, and the payment fails.',
    edits: [
      {
        within: 'interpretInquiry',
        replace: 'return one(refused);',
        by: 'return one(endOf(state));',
      },
    ],
  },
  'refund-unasked': {
    does: 'A refused reversal is refunded, although no answer says that the payer was charged.',
    edits: [
      {
        within: 'meaningForReversal',
        replace: 'inquireAfter(payment, state, answer)',
        by: "one({ type: 'payment_reversal_refused', code: answer.code })",
      },
    ],
  },
  'sent-beyond-the-memory': {
    does: 'An operation is sent again to a bank that no longer recognises it.',
    edits: [
      {
        within: 'tooLateForRepeat',
        replace: 'return () => isAnother || !isRemembered(exchange?.begunAt, abilities, clock.now());',
        by: 'return () => isAnother;',
      },
    ],
  },
  'refused-refund-not-voided': {
    does: 'The reserved money of a failed refund is not released in the ledger.',
    edits: [
      {
        within: 'journalOf',
        replace: '? refundFailed({ ...payment, refundId: fact.refundId }, feeMinor)',
        by: '? undefined',
      },
    ],
  },
  'refund-overtakes-the-queue': {
    does: 'A refund that waits takes the money although an earlier one waits for it.',
    edits: [
      {
        within: 'fundRefund',
        replace: 'first?.invoiceId === payment.invoiceId && first.paymentId === payment.id',
        by: 'first !== undefined',
      },
    ],
  },
  'refund-without-the-shops-money': {
    does: 'A refund that waits is sent to the bank without reserving its money.',
    edits: [
      {
        within: 'journalOf',
        replace: 'return refundRequested({ ...payment, refundId: fact.refundId }, amount, feeMinor);',
        by: 'return undefined;',
      },
    ],
  },
  'returned-refund-not-posted': {
    does: 'The shop does not get the money of a refund that has failed after it was approved.',
    edits: [
      {
        within: 'journalOf',
        replace:
          'return refundReturned({ ...payment, refundId: fact.refundId }, fact.amount, fact.feeMinor);',
        by: 'return undefined;',
      },
    ],
  },
  'sale-posted-twice': {
    does: 'A one-step payment is posted twice.',
    newNames: ['sale_again'],
    edits: [
      {
        within: 'saleApproved',
        replace: '...processingFee(payment, amount, feeMinor)',
        by: `{ phase: 'single', step: 'sale_again', debit: uncleared, credit: settlement, minor: amount.minor },
    ...processingFee(payment, amount, feeMinor)`,
      },
    ],
  },
  'time-of-the-node-alone': {
    does: "An event gets its node's time even if the event before it is later.",
    edits: [
      {
        within: 'changedAt',
        replace: 'greatest(${table}.changed_at, :happened_at)',
        by: ':happened_at',
      },
    ],
  },
  'two-payments-at-once': {
    does: 'An invoice does not know that a payment is in progress.',
    edits: [
      {
        within: 'insertPayment',
        replace: 'payment_in_progress = true',
        by: 'payment_in_progress = false',
      },
      {
        within: 'start_charges',
        replace: 'payment_in_progress = true',
        by: 'payment_in_progress = false',
      },
    ],
  },
  'whole-hold-posted': {
    does: 'A partial capture posts the whole hold.',
    edits: [
      {
        within: 'holdCaptured',
        replace: "{ phase: 'post', step: 'hold', minor: amount.minor }",
        by: "{ phase: 'post', step: 'hold' }",
      },
    ],
  },
};
