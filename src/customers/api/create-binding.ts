// POST …/bindings stores a binding and responds. The card is charged afterwards; the outcome is in the binding and in the
// customer's events.
import { createHash } from 'node:crypto';
import type { Static } from 'typebox';
import type { PaymentResource } from '../../cards/domain/payment-resource.ts';
import type { Database } from '../../platform/database/database.ts';
import type { JobRunner } from '../../platform/jobs/job-runner.ts';
import { endpoint, type EndpointRequest } from '../../platform/http/endpoint.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import { tradingRefusals, type Shop } from '../../merchants/domain/party.ts';
import { mayReturn } from '../../merchants/domain/return-address.ts';
import { returnAddressProblem, unlistedReturn } from '../../payments/api/schema.ts';
import { areSameTerms, mandateGiven, recurrentTermsProblem } from '../../recurring/api/schema.ts';
import { consentWarnings, type MandateGiven } from '../../recurring/domain/mandate.ts';
import { accept, refuse, type Outcome, type Warning } from '../../refusal.ts';
import type { BindingRules } from '../domain/commands.ts';
import { beginBinding } from '../begin-binding.ts';
import { findBinding, findBindingByExternalId, type StoredBinding } from '../store/bindings.ts';
import { bindingOutcome } from './binding-outcome.ts';
import { bindingBody, bindingExample, BindingParams, BindingSchema } from './binding-schema.ts';
import { findCustomer } from '../store/customers.ts';
import { CustomerPath } from './schema.ts';
import { defined } from '../../defined.ts';
import type { Ids } from '../../ids.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { PayerAttempts } from '../../cards/payer-attempts.ts';
import type { Cards } from '../../cards/vault.ts';
import type { Banks } from '../../acquiring/banks.ts';
import type { Consents } from '../../recurring/port.ts';

type Deps = {
  readonly db: Database;
  readonly ids: Ids;
  readonly merchants: Merchants;
  readonly cards: Cards;
  readonly banks: Banks;
  readonly jobs: Pick<JobRunner<{ binding: StoredBinding }>, 'run'>;
  readonly bindingRules: BindingRules;
  readonly payerAttempts: PayerAttempts;
  readonly consents: Consents;
  readonly publicUrl: () => string;
};

/** Each conflict means that another request changed the customer. */
const maxTries = 100;

export const createBinding = endpoint({
  operation: 'createBinding',
  access: { scope: 'customers:write', tokens: ['customer'], entity: 'customerID' },
  method: 'POST',
  path: '/v2/processing/customers/{customerID}/bindings',
  tag: 'Customers',
  summary: 'Bind a card to a customer',
  description:
    "The payer authenticates with 3-D Secure, then a small amount is charged and refunded. Follow the customer's events, or " +
    'poll the binding, until it is `succeeded` or `failed`. If an event requests an interaction, redirect the payer to ' +
    'their bank. The card bound last is charged.',
  params: CustomerPath,
  body: BindingParams,
  bodyExample: bindingExample,
  validateBody: ({ recurrentTerms, sessionInfo }) =>
    returnAddressProblem('', sessionInfo) ?? (recurrentTerms && recurrentTermsProblem(recurrentTerms)),
  status: 201,
  response: BindingSchema,
  outcome: bindingOutcome,
  errors: [
    'customerNotFound',
    'invalidPaymentToolToken',
    'invalidPaymentSession',
    'externalIDConflict',
    ...tradingRefusals,
    'operationNotPermitted',
    'threeDSecureNotOffered',
    'notOfferedByBank',
    'tooManyBindings',
  ],
  handle: async (request, deps: Deps) => {
    const { caller, params, body, now } = request;
    const { customerID: customerId } = params;
    const { paymentToolToken: token, paymentSession: session } = body.paymentResource;
    const resource = await deps.cards.use(deps.db, caller, { token, session }, now, {
      kind: 'customer',
      id: customerId,
    });
    if (!resource.ok) return resource;
    const card = resource.value;
    const fingerprint = fingerprintOf(customerId, card);
    const id = deps.ids.next();
    return createIdempotently({
      externalId: body.externalID,
      fingerprint,
      order: 'findFirst',
      find: async (externalId) => {
        const found = await findBindingByExternalId(deps.db, caller.partyId, externalId);
        // For a customer that is not found, do not reveal that the external ID is in use.
        return found && (await findCustomer(deps.db, caller.partyId, customerId)) ? found : undefined;
      },
      respond: async ({ id: bindingId }) => {
        const name = { partyId: caller.partyId, customerId, bindingId };
        const earlier = (await findBinding(deps.db, name))?.stored;
        if (!earlier) return refuse('customerNotFound');
        const { recurrentTerms } = commandOf(body);
        if (!areSameTerms(earlier.binding.recurrentTerms, recurrentTerms)) return 'otherRequest';
        const trading = await deps.merchants.trading(earlier.binding);
        return trading.ok ? accept(bindingBody(earlier.binding, earlier.customer, caller)) : trading;
      },
      make: () => startBinding(request, { id, card, fingerprint }, deps),
      maxTries,
    });
  },
});

type BindingRequest = EndpointRequest<Static<typeof CustomerPath>, undefined, BindingParams>;
type NewBinding = { readonly id: string; readonly card: PaymentResource; readonly fingerprint: Buffer };

async function startBinding({ caller, params, body, now }: BindingRequest, made: NewBinding, deps: Deps) {
  const { db, merchants } = deps;
  const { id, card, fingerprint } = made;
  const { customerID: customerId } = params;
  const stored = await findCustomer(db, caller.partyId, customerId);
  if (!stored) return refuse('customerNotFound');
  const shop = await merchants.trading(stored.customer);
  if (!shop.ok) return shop;
  if (!mayReturn(body.sessionInfo?.redirectUrl, shop.value.origins, [deps.publicUrl()]))
    return unlistedReturn('');
  const command = commandOf(body);
  const allowed = await allowedByShop(shop.value, command.recurrentTerms, deps);
  if (!allowed.ok) return allowed;
  const terms = { ...command, id, card, fingerprint };
  const started = await beginBinding(deps, { stored, shop: shop.value }, terms, now);
  if (started === 'versionConflict' || !started.ok) return started;
  return accept(bindingBody(started.value.binding, stored.customer, caller), allowed.value);
}

/** A refusal, or warnings about the consent. A complete one needs no lookup. */
async function allowedByShop(
  { partyId, id: shopId }: Shop,
  given: MandateGiven | undefined,
  { db, consents }: Pick<Deps, 'db' | 'consents'>,
): Promise<Outcome<Warning[], 'operationNotPermitted'>> {
  if (given?.consent && given.amountRule) return accept([]);
  const { requireConsentEvidence, terms } = await consents.settings(db, { partyId, shopId });
  if (given?.consent || !requireConsentEvidence) return accept(consentWarnings(given, terms));
  const message = 'This shop saves no card without consent. Send recurrentTerms.consent.';
  return refuse('operationNotPermitted', { message });
}

function commandOf({ externalID, sessionInfo, recurrentTerms }: BindingParams) {
  return defined({
    externalId: externalID,
    redirectUrl: sessionInfo?.redirectUrl,
    recurrentTerms: recurrentTerms && mandateGiven(recurrentTerms, sha256),
  });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Two requests are the same if customer, card, payment session and recurrentTerms are the same. */
function fingerprintOf(customerId: string, { cardMatchHash, session }: PaymentResource): Buffer {
  return requestFingerprint([customerId, cardMatchHash.toString('hex'), session]);
}
