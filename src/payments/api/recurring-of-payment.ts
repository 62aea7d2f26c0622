// The series of a payment: whether it may be charged, its events, its consent bundle, and ending it.
import { Type } from 'typebox';
import { maxEvents } from '../../platform/events/log.ts';
import { endpoint, type EndpointRequest } from '../../platform/http/endpoint.ts';
import { Amount, EventPage, Reason } from '../../platform/http/schemas.ts';
import type { Money } from '../../money.ts';
import { consentSheet } from '../../recurring/domain/consent-sheet.ts';
import { seriesIdOf } from '../../recurring/domain/series.ts';
import {
  bundleBody,
  ConsentBundle,
  recurringBody,
  RecurringEvent,
  recurringEventBody,
  RecurringSchema,
} from '../../recurring/api/schema.ts';
import { readBundle } from '../../recurring/store/codec.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import type { Payment } from '../domain/payment.ts';
import { findPayment } from '../store/payments.ts';
import { PaymentPath } from './schema.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Charging, ConsentFollowers, Consents } from '../../recurring/port.ts';
import { unlessPaused } from '../../retry-rules/domain/may-charge.ts';
import type { Banks } from '../../acquiring/banks.ts';
import type { Merchants } from '../../merchants/merchants.ts';

type Deps = {
  readonly db: Database;
  readonly consents: Consents;
};

const path = '/v2/processing/invoices/{invoiceID}/payments/{paymentID}/recurring';
const tag = 'Recurring';
const errors = ['invoiceNotFound', 'paymentNotFound', 'recurringNotFound'] as const;

export const getRecurring = endpoint({
  operation: 'getRecurring',
  access: { scope: 'payments:read', maskedAs: 'invoiceNotFound' },
  method: 'GET',
  path,
  tag,
  summary: 'Check whether a recurring charge is allowed now',
  description:
    'What creating a recurring payment would return now. Pass the amount you intend to charge: card networks count declines ' +
    'of equal amounts.',
  params: PaymentPath,
  query: Type.Object({ amount: Type.Optional(Amount) }),
  status: 200,
  response: RecurringSchema,
  errors,
  handle: async (request, deps: Deps & { readonly charging: Charging; readonly banks: Banks }) => {
    const found = await seriesOf(request, deps);
    if (!found.ok) return found;
    const { seriesId, payment } = found.value;
    const { amount } = request.query;
    const money: Money = {
      minor: amount === undefined ? payment.amount.minor : BigInt(amount),
      currency: payment.amount.currency,
    };
    const asked = { invoiceCreatedAt: 'then', amount: money } as const;
    const evaluation = await deps.charging.preview(deps.db, seriesId, asked, request.now);
    if (!evaluation) return refuse('recurringNotFound');
    const pausedUntil = await deps.banks.pausedUntil(payment, request.now);
    return accept(recurringBody({ ...evaluation, decision: unlessPaused(evaluation.decision, pausedUntil) }));
  },
});

export const listRecurringEvents = endpoint({
  operation: 'listRecurringEvents',
  access: { scope: 'payments:read', maskedAs: 'invoiceNotFound' },
  method: 'GET',
  path: `${path}/events`,
  tag,
  summary: 'Read the events of a series',
  description: 'Oldest first. Includes advance notices.',
  params: PaymentPath,
  query: EventPage,
  status: 200,
  response: Type.Array(RecurringEvent),
  errors,
  handle: async (request, deps: Deps) => {
    const found = await seriesOf(request, deps);
    if (!found.ok) return found;
    const { query } = request;
    const limit = Math.min(query.limit, maxEvents);
    const after = Math.min(query.eventID ?? 0, 2_147_483_647);
    const events = await deps.consents.events(deps.db, found.value.seriesId, after, limit);
    return accept(events.map(recurringEventBody));
  },
});

export const getConsentBundle = endpoint({
  operation: 'getConsentBundle',
  access: { scope: 'payments:read', maskedAs: 'invoiceNotFound' },
  method: 'GET',
  path: `${path}/consent`,
  tag,
  summary: 'Get the sealed consent bundle',
  description:
    'The consent and all charges made under it, hash-chained and sealed, as evidence in a dispute. Store the bytes: ' +
    '`mandate consent verify FILE` detects any change.',
  params: PaymentPath,
  status: 200,
  response: ConsentBundle,
  errors,
  handle: async (request, deps: Deps) => {
    const found = await seriesOf(request, deps);
    if (!found.ok) return found;
    const bundle = await deps.consents.bundle(deps.db, found.value.seriesId, request.now);
    if (!bundle) return refuse('recurringNotFound');
    return accept(bundleBody(bundle));
  },
});

export const getConsentSheet = endpoint({
  operation: 'getConsentSheet',
  access: { scope: 'payments:read', maskedAs: 'invoiceNotFound' },
  method: 'GET',
  path: `${path}/consent/sheet`,
  tag,
  summary: 'Get the consent as a printable page',
  description: 'The consent bundle as HTML without scripts. The bundle is the evidence.',
  params: PaymentPath,
  status: 200,
  response: Type.Object({ html: Type.String() }, { title: 'ConsentSheet' }),
  errors,
  handle: async (request, deps: Deps & { readonly merchants: Merchants }) => {
    const found = await seriesOf(request, deps);
    if (!found.ok) return found;
    const { seriesId, payment } = found.value;
    const bundle = await deps.consents.bundle(deps.db, seriesId, request.now);
    if (!bundle) return refuse('recurringNotFound');
    const shop = await deps.merchants.shop(payment.partyId, payment.shopId);
    return accept({ html: consentSheet(readBundle(bundle), shop && { name: shop.name, site: shop.url }) });
  },
});

export const withdrawConsent = endpoint({
  operation: 'withdrawConsent',
  access: { scope: 'payments:write' },
  method: 'POST',
  path: `${path}/withdraw`,
  tag,
  summary: 'End a series of recurring charges',
  description: 'Revokes the consent immediately and permanently. A repeat changes nothing.',
  params: PaymentPath,
  body: Reason,
  bodyExample: { reason: 'Cancelled in the account' },
  status: 204,
  errors,
  handle: async (request, deps: Deps & { readonly customers: ConsentFollowers }) => {
    const found = await seriesOf(request, deps);
    if (!found.ok) return found;
    const how = { by: 'merchant', reason: request.body.reason } as const;
    const { db, consents, customers } = deps;
    const withdrawn = await db.transaction(async (tx) => {
      const series = await consents.revoke(tx, found.value.seriesId, how, request.now);
      if (series) await customers.onConsentRevoked(tx, series, consents, request.now);
      return series;
    });
    return withdrawn ? accept(undefined) : refuse('recurringNotFound');
  },
});

type Asked = Pick<
  EndpointRequest<{ readonly invoiceID: string; readonly paymentID: string }>,
  'caller' | 'params'
>;

async function seriesOf(
  { caller, params }: Asked,
  { db }: { db: Database },
): Promise<Outcome<{ seriesId: string; payment: Payment }, (typeof errors)[number]>> {
  const name = { invoiceId: params.invoiceID, paymentId: params.paymentID };
  const found = await findPayment(db, { partyId: caller.partyId, ...name });
  if (!found.ok) return found;
  const { payment } = found.value;
  if ('seriesId' in payment.payer) return accept({ seriesId: payment.payer.seriesId, payment });
  return payment.makeRecurrent
    ? accept({ seriesId: seriesIdOf(name), payment })
    : refuse('recurringNotFound');
}
