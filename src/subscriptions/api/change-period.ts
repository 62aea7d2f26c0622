// What a merchant does with one unpaid or missed period: charges it, or says that no charge is wanted.
import { Type } from 'typebox';
import { defined } from '../../defined.ts';
import { tradingRefusals } from '../../merchants/domain/party.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { DateTime, EntityID, instantOf } from '../../platform/http/schemas.ts';
import { decideCharge, decideClose } from '../domain/commands.ts';
import { change, changeErrors, writing, type ChangeDeps } from './change-subscription.ts';

const params = Type.Object({
  subscriptionID: EntityID,
  periodNumber: Type.String({ pattern: '^[1-9]\\d{0,5}$' }),
});
const errors = [...changeErrors, 'invalidPeriodStatus'] as const;

export const chargeSubscriptionPeriod = endpoint({
  ...writing,
  operation: 'chargeSubscriptionPeriod',
  path: '/v2/processing/subscriptions/{subscriptionID}/periods/{periodNumber}/charge',
  summary: 'Charge an unpaid or missed period',
  description: 'Instead of the planned retry. The rules of recurring charges apply.',
  params,
  body: Type.Object(
    {
      afterDays: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 30, default: 0, description: '0: at once.' }),
      ),
      at: Type.Optional({ ...DateTime, description: 'Instead of `afterDays`.' }),
    },
    { title: 'ChargePeriod' },
  ),
  bodyExample: {},
  validateBody: ({ afterDays, at }) =>
    afterDays !== undefined && at !== undefined ? 'Send `afterDays` or `at`, not both.' : undefined,
  errors: [...errors, ...tradingRefusals],
  handle: (request, deps: ChangeDeps) => {
    const number = Number(request.params.periodNumber);
    const { afterDays = 0, at } = request.body;
    const when = { afterDays, ...defined({ at: at === undefined ? undefined : instantOf(at) }) };
    const invoiceId = deps.ids.next();
    return change(
      request,
      deps,
      (subscription, now) => decideCharge(subscription, { number, ...when, invoiceId }, now),
      'a shop that trades',
    );
  },
});

export const closeSubscriptionPeriod = endpoint({
  ...writing,
  operation: 'closeSubscriptionPeriod',
  path: '/v2/processing/subscriptions/{subscriptionID}/periods/{periodNumber}/close',
  summary: 'Close an unpaid or missed period',
  description: 'Its invoice is cancelled.',
  params,
  body: Type.Object({ as: Type.Enum(['forgiven', 'paidElsewhere']) }, { title: 'ClosePeriod' }),
  bodyExample: { as: 'forgiven' },
  errors,
  handle: (request, deps: ChangeDeps) => {
    const number = Number(request.params.periodNumber);
    const { as } = request.body;
    return change(request, deps, (subscription, now) => decideClose(subscription, { number, as }, now));
  },
});
