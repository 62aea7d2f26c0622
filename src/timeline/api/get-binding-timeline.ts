// What happened to a binding, line by line.
import { BindingPath } from '../../customers/api/binding-schema.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept } from '../../refusal.ts';
import { readBindingTimeline } from '../binding-timeline.ts';
import { itemsBody, TimelineSchema, type TimelineDeps } from './item-schema.ts';

export const getBindingTimeline = endpoint({
  operation: 'getBindingTimeline',
  access: { scope: 'customers:read', maskedAs: 'customerNotFound' },
  method: 'GET',
  path: '/v2/processing/customers/{customerID}/bindings/{customerBindingID}/timeline',
  tag: 'Customers',
  summary: 'Read what happened to a binding',
  params: BindingPath,
  status: 200,
  response: TimelineSchema,
  errors: ['customerNotFound', 'bindingNotFound'],
  handle: async ({ caller, params, now }, { db, timeline, language }: TimelineDeps) => {
    const { customerID: customerId, customerBindingID: bindingId } = params;
    const found = await timeline.binding(db, { partyId: caller.partyId, customerId, bindingId });
    if (!found.ok) return found;
    return accept(itemsBody(await readBindingTimeline(timeline, db, found.value, now), language));
  },
});
