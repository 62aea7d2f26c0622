import type { Faults } from './fault.ts';

export const faultsOfPayouts: Faults = {
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
        within: 'payoutOf',
        replace: 'operationId: operationIdOf(withdrawal),',
        by: 'operationId: `${operationIdOf(withdrawal)}${Math.floor(Math.random() * 9)}`,',
      },
    ],
  },
  'payout-sent-after-not-found': {
    does: 'A payout that its bank does not find is sent again, although it may have been sent.',
    edits: [
      { within: 'askBank', replace: 'if (!loaded.isUnsent) return notFound;', by: '' },
      { within: 'claim', replace: 'and is_unsent and', by: 'and' },
    ],
  },
  'unsent-payout-waits': {
    does: 'A payout of which certainly nothing was sent waits for an operator.',
    edits: [
      {
        within: 'askBank',
        replace: 'if (!loaded.isUnsent) return notFound;',
        by: 'if (!loaded.isUnsent || inquiresFirst) return notFound;',
      },
      {
        within: 'askBank',
        replace: 'let stored = loaded;',
        by: 'let stored = loaded; const inquiresFirst = !isNew;',
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
  'limit-not-counted-for-card': {
    does: 'A payout is counted for its identity only, and not for its card.',
    edits: [
      {
        within: 'countersOf',
        replace: '...(cardHash ? [{ subject:',
        by: '...(cardHash && identityId === any ? [{ subject:',
      },
    ],
  },
  'doubtful-commit-is-unavailable': {
    does: 'A request whose commit got no answer gets 503, as if nothing was done.',
    edits: [
      {
        within: 'explained',
        replace: 'return new CommitUnknown(error);',
        by: 'return new DatabaseUnavailable(error);',
      },
    ],
  },
  'pooler-without-server-is-a-fault': {
    does: 'A request gets 500 if the pooler had no server for its statement.',
    edits: [
      {
        within: 'isUnavailable',
        replace: "(code.startsWith('08') && isFatal(error)) ||",
        by: "(code.startsWith('08') && code === '08006' && isFatal(error)) ||",
      },
    ],
  },
  'payout-through-any-terminal': {
    does: 'A payout goes through the first terminal, whatever its currency.',
    edits: [
      { within: 'serves', replace: 'return terms !== undefined && (', by: 'return terms === undefined || (' },
    ],
  },
  'payout-returned-twice': {
    does: 'The same return of a payout is recorded and posted each time the bank calls.',
    edits: [
      { within: 'expectReturn', replace: "and result -> 'returned' is null", by: '' },
      {
        within: 'runWithdrawalJob',
        replace: "(state.status === 'succeeded' && state.returned)",
        by: "(state.status === 'succeeded' && id === '')",
      },
      {
        within: 'withReturn',
        replace: "state.status !== 'succeeded' || state.returned",
        by: "state.status !== 'succeeded'",
      },
      {
        within: 'withdrawalReturned',
        replace: "step: 'returned',",
        by: 'step: `returned${Math.floor(Math.random() * 99)}`,',
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
