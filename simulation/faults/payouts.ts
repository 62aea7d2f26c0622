import type { Faults } from './fault.ts';

export const faultsOfPayouts: Faults = {
  'failed-withdrawal-not-voided': {
    does: 'The reserved money of a failed withdrawal is posted as paid out.',
    edits: [
      {
        within: 'storeEnd',
        replace: '? withdrawalSucceeded : withdrawalFailed',
        by: '? withdrawalSucceeded : withdrawalSucceeded',
      },
    ],
  },
  'payout-before-the-commit': {
    does: 'A payout is sent before the withdrawal is committed.',
    edits: [
      {
        within: 'createWithdrawal',
        replace: "db.afterCommit(() => jobs.run('withdrawal', [terms.id], now, stored));",
        by: "jobs.run('withdrawal', [terms.id], now, stored);",
      },
    ],
  },
  'payout-under-a-new-id': {
    does: 'A payout that is sent again has another operation ID.',
    edits: [
      {
        within: 'ask',
        replace: "bank.send({ kind: 'payout', operationId, terminal",
        by: "bank.send({ kind: 'payout', operationId: `${operationId}${Math.floor(Math.random() * 9)}`, terminal",
      },
    ],
  },
  'payout-unknown-is-failed': {
    does: 'A payout with an unknown outcome counts as failed.',
    edits: [
      {
        within: 'interpret',
        replace: 'return notYet(withdrawal, now, answer.why);',
        by: "return { fact: { type: 'withdrawal_failed', failure: failureOfDecline({ code: '96' }) } };",
      },
    ],
  },
  'wallet-without-floor': {
    does: 'An account can be overdrawn.',
    edits: [{ within: 'post_journal', replace: "return 'insufficient';", by: 'null;' }],
  },
  'withdrawal-end-without-event': {
    does: 'No event is written when a withdrawal ends.',
    edits: [
      {
        within: 'endWithdrawalRow',
        replace: "${appendEvent('withdrawal', 'withdrawal_id')}",
        by: 'select :facts::json',
      },
    ],
  },
  'withdrawal-ended-twice': {
    does: 'A withdrawal is ended without a check of its version.',
    edits: [
      {
        within: 'endWithdrawalRow',
        replace: 'where withdrawal_id = :withdrawal_id and version = :version',
        by: 'where withdrawal_id = :withdrawal_id and :version > 0',
      },
    ],
  },
};
