// Reads whether a customer can be charged now, and the consent bundle of a binding.
import { Type } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { Amount } from '../../platform/http/schemas.ts';
import { bundleBody, ConsentBundle, recurringBody, RecurringSchema } from '../../recurring/api/schema.ts';
import { noSavedCard } from '../../payments/domain/payer/chargeable-customer.ts';
import { accept, refuse } from '../../refusal.ts';
import { seriesOf } from '../card-consents.ts';
import { findBinding } from '../store/bindings.ts';
import { BindingPath } from './binding-schema.ts';
import { CustomerPath } from './schema.ts';
import type { Database } from '../../platform/database/database.ts';
import { unlessPaused } from '../../retry-rules/domain/may-charge.ts';
import type { Banks } from '../../acquiring/banks.ts';
import type { Customers } from '../port.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Charging, Consents } from '../../recurring/port.ts';

type Deps = {
  db: Database;
  customers: Customers;
  merchants: Merchants;
  charging: Charging;
  consents: Consents;
  banks: Banks;
};

export const getCustomerRecurring = endpoint({
  operation: 'getCustomerRecurring',
  access: { scope: 'customers:read', maskedAs: 'customerNotFound' },
  method: 'GET',
  path: '/v2/processing/customers/{customerID}/recurring',
  tag: 'Recurring',
  summary: 'Check whether a customer can be charged now',
  description:
    'What creating a payment with `CustomerPayer` would get now, for the active card. Pass the amount you intend to charge: ' +
    'card networks count declines of equal amounts.',
  params: CustomerPath,
  query: Type.Object({ amount: Type.Optional(Amount) }),
  status: 200,
  response: RecurringSchema,
  errors: ['customerNotFound', 'customerNotReady'],
  handle: async (
    { caller, params, query, now },
    { db, customers, merchants, charging, consents, banks }: Deps,
  ) => {
    const { partyId } = caller;
    const customer = await customers.chargeable(db, partyId, params.customerID);
    if (!customer) return refuse('customerNotFound');
    const { card, shopId, id: customerId } = customer;
    if (!card) return noSavedCard();
    const shop = await merchants.shop(partyId, shopId);
    const { token, livemode } = card;
    const of = { named: card.seriesId, customerId, partyId, livemode, token };
    const seriesId = await consents.seriesOfCustomer(db, of);
    const amount =
      shop && query.amount !== undefined
        ? { amount: { minor: BigInt(query.amount), currency: shop.currency } }
        : {};
    const evaluation = await charging.preview(db, seriesId, { invoiceCreatedAt: 'then', ...amount }, now);
    if (!evaluation) throw new Error(`customer ${customerId} is ready without a series`);
    const pausedUntil = await banks.pausedUntil({ partyId, shopId }, now);
    return accept(recurringBody({ ...evaluation, decision: unlessPaused(evaluation.decision, pausedUntil) }));
  },
});

export const getBindingConsent = endpoint({
  operation: 'getBindingConsent',
  access: { scope: 'customers:read', maskedAs: 'customerNotFound' },
  method: 'GET',
  path: '/v2/processing/customers/{customerID}/bindings/{customerBindingID}/consent',
  tag: 'Recurring',
  summary: 'Get the consent bundle of a binding',
  description: 'As for a payment. Only for bindings that succeeded, also revoked ones.',
  params: BindingPath,
  status: 200,
  response: ConsentBundle,
  errors: ['customerNotFound', 'bindingNotFound', 'recurringNotFound'],
  handle: async ({ caller, params, now }, { db, consents }: { db: Database; consents: Consents }) => {
    const { partyId } = caller;
    const { customerID: customerId, customerBindingID: bindingId } = params;
    const found = await findBinding(db, { partyId, customerId, bindingId });
    if (!found) return refuse('customerNotFound');
    if (!found.stored) return refuse('bindingNotFound');
    const { state } = found.stored.binding;
    if (state.name !== 'succeeded' && state.name !== 'withdrawn') return refuse('recurringNotFound');
    const bundle = await consents.bundle(db, await seriesOf(db, consents, found.stored), now);
    return bundle ? accept(bundleBody(bundle)) : refuse('recurringNotFound');
  },
});
