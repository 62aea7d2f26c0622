// POST …/links: the address of the page on which the payer looks after a subscription.
import { Type } from 'typebox';
import type { Database } from '../../platform/database/database.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { DateTime } from '../../platform/http/schemas.ts';
import { accept, refuse } from '../../refusal.ts';
import type { PayerPages } from '../port.ts';
import { findSubscription } from '../store/subscriptions.ts';
import { SubscriptionPath } from './schema.ts';

export const createSubscriptionLink = endpoint({
  operation: 'createSubscriptionLink',
  access: { scope: 'subscriptions:write' },
  method: 'POST',
  path: '/v2/processing/subscriptions/{subscriptionID}/links',
  tag: 'Subscriptions',
  summary: 'Create a link to the payer’s page',
  description: 'Payers pay, pause and end there, and change the card. Valid for 30 days.',
  params: SubscriptionPath,
  status: 201,
  response: Type.Object({ url: Type.String(), expiresAt: DateTime }, { title: 'SubscriptionLink' }),
  errors: ['subscriptionNotFound'],
  handle: async (
    { caller, params, now },
    { db, payerPages }: { readonly db: Database; readonly payerPages: Pick<PayerPages, 'linkOf'> },
  ) => {
    const found = await findSubscription(db, caller.partyId, params.subscriptionID);
    return found ? accept(payerPages.linkOf(params.subscriptionID, now)) : refuse('subscriptionNotFound');
  },
});
