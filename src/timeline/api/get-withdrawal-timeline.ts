// What happened to a withdrawal, line by line: whether it was paid, or why that is unknown.
import { WithdrawalPath } from '../../payouts/api/schema.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept, refuse } from '../../refusal.ts';
import { readWithdrawalTimeline } from '../withdrawal-timeline.ts';
import { itemsBody, TimelineSchema, type TimelineDeps } from './item-schema.ts';

export const getWithdrawalTimeline = endpoint({
  operation: 'getWithdrawalTimeline',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/withdrawals/{withdrawalID}/timeline',
  tag: 'Withdrawals',
  summary: 'Read what happened to a withdrawal',
  params: WithdrawalPath,
  status: 200,
  response: TimelineSchema,
  errors: ['withdrawalNotFound'],
  handle: async ({ caller, params, now }, { db, timeline, language }: TimelineDeps) => {
    const withdrawal = await timeline.withdrawal(db, caller.partyId, params.withdrawalID);
    if (!withdrawal) return refuse('withdrawalNotFound');
    return accept(itemsBody(await readWithdrawalTimeline(timeline, db, withdrawal, now), language));
  },
});
