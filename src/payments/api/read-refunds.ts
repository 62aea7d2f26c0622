// Reads refunds: all of a payment, one by its ID, one by its external ID. Also reads chargebacks.
import { Type } from 'typebox';
import type { Database } from '../../platform/database/database.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { Amount, CurrencyCode, DateTime, EntityID, externalIDToFind } from '../../platform/http/schemas.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { findPayment } from '../store/payments.ts';
import { namedRefundOutcome, refundOutcome } from './outcomes.ts';
import { PaymentPath } from './schema.ts';
import { findRefundByExternalId as findByExternalId, findRefunds } from '../store/refunds.ts';
import {
  namedRefundBody,
  refundBody,
  RefundPath,
  RefundSchema,
  RefundSearchResult,
} from './refund-schema.ts';

export const listRefunds = endpoint({
  operation: 'listRefunds',
  access: { scope: 'payments:read', maskedAs: 'invoiceNotFound' },
  method: 'GET',
  path: '/v2/processing/invoices/{invoiceID}/payments/{paymentID}/refunds',
  tag: 'Refunds',
  summary: 'List the refunds of a payment',
  params: PaymentPath,
  status: 200,
  response: Type.Array(RefundSchema),
  errors: ['invoiceNotFound', 'paymentNotFound'],
  handle: async ({ caller, params }, { db }: { db: Database }) => {
    const name = await requirePayment(db, caller.partyId, params);
    return name.ok ? accept((await findRefunds(db, name.value)).map(refundBody)) : name;
  },
});

export const getRefund = endpoint({
  operation: 'getRefund',
  access: { scope: 'payments:read', maskedAs: 'invoiceNotFound' },
  method: 'GET',
  path: '/v2/processing/invoices/{invoiceID}/payments/{paymentID}/refunds/{refundID}',
  tag: 'Refunds',
  summary: 'Get a refund',
  params: RefundPath,
  status: 200,
  response: RefundSchema,
  outcome: refundOutcome,
  errors: ['invoiceNotFound', 'paymentNotFound', 'refundNotFound'],
  handle: async ({ caller, params }, { db }: { db: Database }) => {
    const name = await requirePayment(db, caller.partyId, params);
    if (!name.ok) return name;
    const [refund] = await findRefunds(db, { ...name.value, refundId: params.refundID });
    if (!refund) return refuse('refundNotFound', { message: 'Invoice payment refund not found' });
    return accept(refundBody(refund));
  },
});

export const findRefundByExternalId = endpoint({
  operation: 'findRefund',
  access: { scope: 'payments:read', maskedAs: 'refundNotFound' },
  method: 'GET',
  path: '/v2/processing/refunds',
  tag: 'Refunds',
  summary: 'Find a refund by its externalID',
  query: Type.Object({ externalID: externalIDToFind('search `/v2/analytics/shops/{shopID}/refunds`') }),
  status: 200,
  response: RefundSearchResult,
  outcome: namedRefundOutcome,
  errors: ['refundNotFound'],
  handle: async ({ caller, query }, { db }: { db: Database }) => {
    const found = await findByExternalId(db, caller.partyId, query.externalID);
    if (!found) return refuse('refundNotFound');
    return accept(namedRefundBody(found.value));
  },
});

const Chargeback = Type.Object(
  {
    id: Type.String(),
    createdAt: DateTime,
    body: { ...Amount, description: 'The disputed amount.' },
    levy: { ...Amount, description: 'The penalty.' },
    currency: CurrencyCode,
    reasonCode: Type.Optional(Type.String()),
    stage: Type.Enum(['chargeback', 'pre-arbitration', 'arbitration']),
    status: Type.Enum(['pending', 'rejected', 'accepted', 'cancelled']),
  },
  { title: 'Chargeback' },
);

const noneReported = 'no bank can report one.';

export const listChargebacks = endpoint({
  operation: 'listChargebacks',
  access: { scope: 'payments:read' },
  method: 'GET',
  path: '/v2/processing/invoices/{invoiceID}/payments/{paymentID}/chargebacks',
  tag: 'Refunds',
  summary: 'List the chargebacks of a payment',
  description: `Always an empty list today: ${noneReported}`,
  params: PaymentPath,
  status: 200,
  response: Type.Array(Chargeback),
  errors: ['invoiceNotFound', 'paymentNotFound'],
  handle: async ({ caller, params }, { db }: { db: Database }) => {
    const name = await requirePayment(db, caller.partyId, params);
    return name.ok ? accept([]) : name;
  },
});

export const getChargeback = endpoint({
  operation: 'getChargeback',
  access: { scope: 'payments:read' },
  method: 'GET',
  path: '/v2/processing/invoices/{invoiceID}/payments/{paymentID}/chargebacks/{chargebackID}',
  tag: 'Refunds',
  summary: 'Get a chargeback',
  description: `Always refused with \`chargebackNotFound\` today: ${noneReported}`,
  params: Type.Object({ ...PaymentPath.properties, chargebackID: EntityID }),
  status: 200,
  response: Chargeback,
  errors: ['invoiceNotFound', 'paymentNotFound', 'chargebackNotFound'],
  handle: async ({ caller, params }, { db }: { db: Database }) => {
    const name = await requirePayment(db, caller.partyId, params);
    return name.ok ? refuse('chargebackNotFound') : name;
  },
});

async function requirePayment(
  db: Database,
  partyId: string,
  { invoiceID, paymentID }: { invoiceID: string; paymentID: string },
): Promise<Outcome<{ invoiceId: string; paymentId: string }, 'invoiceNotFound' | 'paymentNotFound'>> {
  const name = { invoiceId: invoiceID, paymentId: paymentID };
  const found = await findPayment(db, { ...name, partyId });
  return found.ok ? accept(name) : found;
}
