// PATCH …/subscriptions/{subscriptionID}: what is neither the items, the dates nor the state of a subscription.
import { Type } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { Metadata, metadataProblem } from '../../platform/http/schemas.ts';
import { decideDetails } from '../domain/changes/details.ts';
import { change, changeErrors, writing, type ChangeDeps } from './change-subscription.ts';
import { catchUps, LocalDate } from './schema.ts';

export const changeSubscriptionDetails = endpoint({
  ...writing,
  operation: 'changeSubscriptionDetails',
  method: 'PATCH',
  path: '/v2/processing/subscriptions/{subscriptionID}',
  summary: 'Change the details of a subscription',
  description:
    'What you leave out stays. If another request has changed the details since you read them, the answer is 409 and says what `differs`.',
  body: Type.Object(
    {
      detailsVersion: Type.Integer({ minimum: 1, description: 'As you have read it.' }),
      metadata: Type.Optional({ ...Metadata, description: 'All of it.' }),
      catchUp: Type.Optional(Type.Enum([...catchUps])),
      endsOn: Type.Optional({
        ...LocalDate,
        description: 'Not later than what was agreed at the start, and not with `periods`.',
      }),
    },
    { title: 'ChangeSubscriptionDetails' },
  ),
  bodyExample: { detailsVersion: 1, metadata: { plan: 'tea' } },
  validateBody: ({ metadata }) => metadataProblem(metadata ?? {}),
  errors: [...changeErrors, 'subscriptionDetailsChanged', 'subscriptionChangePending'],
  handle: (request, deps: ChangeDeps) => {
    const { detailsVersion: version, ...wish } = request.body;
    return change(request, deps, (subscription, now) =>
      decideDetails(subscription, { version, ...wish }, now),
    );
  },
});
