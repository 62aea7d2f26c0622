// POST …/bindings: a card is to be tied to a customer. The binding is written and answered; the bank is asked afterwards, and
// what comes of it is read from the binding or from the customer's events.
import { createHash } from 'node:crypto';
import type { PaymentResource } from '../../cards/domain/payment-resource.ts';
import { isNameTaken, type Database } from '../../platform/database/database.ts';
import { initialClaim, type JobRunner } from '../../platform/jobs/job-runner.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { isStopped } from '../../merchants/domain/party.ts';
import { mandateGiven, recurrentTermsProblem } from '../../recurring/api/schema.ts';
import { accept, refuse } from '../../refusal.ts';
import { decideStart, type BindingRules } from '../domain/commands.ts';
import { findBinding, findBindingNamed, findEarlierBindings, storeNewBinding } from '../store/bindings.ts';
import { bindingBody, bindingExample, BindingParams, BindingSchema } from './binding-schema.ts';
import { findCustomer } from '../store/customers.ts';
import { CustomerPath } from './schema.ts';
import { defined } from '../../defined.ts';
import type { Ids } from '../../ids.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Cards } from '../../cards/vault.ts';
import type { Banks } from '../../acquiring/banks.ts';
import type { Recurring } from '../../recurring/port.ts';

type Deps = {
  readonly db: Database;
  readonly ids: Ids;
  readonly merchants: Merchants;
  readonly cards: Cards;
  readonly banks: Banks;
  readonly jobs: JobRunner;
  readonly bindingRules: BindingRules;
  readonly recurring: Recurring;
};

/** Each that fails is a change of somebody else's that succeeded. */
const tries = 100;

export const createBinding = endpoint({
  operation: 'createBinding',
  access: { scope: 'customers:write', tokens: ['customer'], entity: 'customerID' },
  method: 'POST',
  path: '/v2/processing/customers/{customerID}/bindings',
  tag: 'Customers',
  summary: 'Bind a card to a customer',
  description:
    'The payer is authenticated by his bank, a small sum is charged and given back. The answer is ' +
    '`pending`; follow the events of the customer, or read the binding, until it has `succeeded` or `failed`. When an event ' +
    'asks for an interaction, the payer has to authenticate. The card bound last is the one that is charged.',
  params: CustomerPath,
  body: BindingParams,
  bodyExample: bindingExample,
  validateBody: ({ recurrentTerms }) => recurrentTerms && recurrentTermsProblem(recurrentTerms),
  status: 201,
  response: BindingSchema,
  errors: [
    'customerNotFound',
    'invalidPaymentToolToken',
    'invalidPaymentSession',
    'externalIDConflict',
    'invalidShopID',
    'invalidPartyStatus',
    'invalidShopStatus',
    'operationNotPermitted',
    'tooManyBindings',
  ],
  handle: async ({ caller, params, body, now }, deps: Deps) => {
    const { db, merchants, cards, banks, jobs, bindingRules } = deps;
    const { customerID: customerId } = params;
    const { paymentToolToken: token, paymentSession: session } = body.paymentResource;
    const resource = await cards.use(db, caller, { token, session }, now);
    if (!resource.ok) return resource;
    const card = resource.value;
    const fingerprint = fingerprintOf(customerId, card);
    const id = deps.ids.next();

    for (let attempt = 0; attempt < tries; attempt++) {
      const started = await start();
      if (started === 'customer has moved') continue;
      if (started.ok || isStopped(started)) return started;
      // What stands in the way may be that very binding, made meanwhile.
      return (await answerToRepeat()) ?? started;
    }
    throw new Error(`customer ${customerId} was changed by others ${tries} times in a row`);

    async function start() {
      const stored = await findCustomer(db, caller.partyId, customerId);
      if (!stored) return refuse('customerNotFound');
      const earlier = await answerToRepeat();
      if (earlier && !earlier.ok) return earlier;
      const shop = await merchants.trading(stored.customer);
      if (!shop.ok) return shop;
      if (earlier) return earlier;
      if (!body.recurrentTerms?.consent) {
        const { partyId, id: shopId } = shop.value;
        const { requireConsentEvidence } = await deps.recurring.settings(db, { partyId, shopId });
        const message = 'The shop stores no card without the consent in recurrentTerms';
        if (requireConsentEvidence) return refuse('operationNotPermitted', { message });
      }
      const terminal = await banks.terminalOf(shop.value);
      if (!terminal) return refuse('operationNotPermitted', { message: 'No bank takes cards for this shop' });
      const cardFingerprint = card.fingerprint.hash;
      const others = await findEarlierBindings(db, { customerId, cardFingerprint }, bindingRules, now);
      const command = {
        id,
        terminal,
        card: {
          token: card.token,
          session: card.session,
          details: card.card,
          clientInfo: card.clientInfo,
        },
        ...defined({ externalId: body.externalID }),
        ...(body.sessionInfo?.redirectUrl === undefined ? {} : { redirectUrl: body.sessionInfo.redirectUrl }),
        ...(body.recurrentTerms === undefined
          ? {}
          : { recurrentTerms: mandateGiven(body.recurrentTerms, sha256) }),
      };
      const decision = decideStart(stored.customer, shop.value, command, bindingRules, others, now);
      if (!decision.ok) return decision;
      // From here on the binding is made, unless the customer has moved or the name was taken meanwhile.
      const store = (tx: Database) =>
        storeNewBinding(tx, stored, decision.value, {
          cardFingerprint,
          fingerprint: body.externalID === undefined ? null : fingerprint,
          claim: initialClaim(now),
        });
      // A name that is taken breaks its statement, and must not break more than that.
      const isOneStatement = body.externalID === undefined;
      const written = await (isOneStatement ? store(db) : db.transaction(store)).catch((error: unknown) => {
        if (isNameTaken(error)) return 'customer has moved' as const;
        throw error;
      });
      if (written === 'card is gone') return refuse('invalidPaymentToolToken');
      if (written === 'customer has moved') return written;
      db.afterCommit(() => jobs.run('binding', [customerId, id], now, written));
      return accept(bindingBody(written.binding, stored.customer, caller));
    }

    async function answerToRepeat() {
      if (body.externalID === undefined) return undefined;
      const named = await findBindingNamed(db, caller.partyId, body.externalID);
      if (!named) return undefined;
      if (named.fingerprint.equals(fingerprint)) {
        const name = { partyId: caller.partyId, customerId, bindingId: named.bindingId };
        const earlier = (await findBinding(db, name))?.stored;
        return earlier ? accept(bindingBody(earlier.binding, earlier.customer, caller)) : undefined;
      }
      return refuse('externalIDConflict', { details: { externalID: body.externalID, id: named.bindingId } });
    }
  },
});

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** What makes two requests the same request: this customer, this card, entered on this occasion. */
function fingerprintOf(customerId: string, { cardMatchHash, session }: PaymentResource): Buffer {
  const significant = [customerId, cardMatchHash.toString('hex'), session];
  return createHash('sha256').update(JSON.stringify(significant)).digest();
}
