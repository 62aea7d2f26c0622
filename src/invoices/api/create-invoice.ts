// POST /v2/processing/invoices: creates an invoice and its access token.
import { createHash } from 'node:crypto';
import { endpoint } from '../../platform/http/endpoint.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import { validationMessage } from '../../platform/http/errors/validate.ts';
import { instantOf, metadataProblem } from '../../platform/http/schemas.ts';
import { tradingRefusals } from '../../merchants/domain/party.ts';
import { termsIn } from '../../receipts/domain/terms-body.ts';
import { termsProblem } from '../../recurring/api/schema.ts';
import { amountWarnings } from '../../recurring/domain/mandate.ts';
import type { Consents } from '../../recurring/port.ts';
import type { Instant } from '../../clock.ts';
import { accept, refuse, type Warning } from '../../refusal.ts';
import { decideCreate, evolve, type CreateInvoice, type InvoiceTerms } from '../domain/invoice.ts';
import type { RandomAmount } from '../domain/random-amount.ts';
import { findInvoiceByExternalId, storeNewInvoice } from '../store/invoices.ts';
import {
  cartIdentity,
  cartOf,
  InvoiceAndToken,
  invoiceAndToken,
  invoiceBody,
  invoiceExample,
  InvoiceParams,
} from './schema.ts';
import { defined } from '../../defined.ts';
import type { AccessTokens } from '../../platform/keys/access-token.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Ids } from '../../ids.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { JobRunner } from '../../platform/jobs/job-runner.ts';

type Deps = {
  db: Database;
  ids: Ids;
  merchants: Merchants;
  tokens: AccessTokens;
  jobs: Pick<JobRunner, 'wake'>;
  consents: Pick<Consents, 'settings'>;
};

export const createInvoice = endpoint({
  operation: 'createInvoice',
  access: { scope: 'invoices:write' },
  method: 'POST',
  path: '/v2/processing/invoices',
  tag: 'Invoices',
  summary: 'Create an invoice',
  description:
    'What is to be paid, to which shop and until when. The access token is for a browser, for three days. Unpaid at its due ' +
    'date, it is cancelled.',
  body: InvoiceParams,
  validateBody: ({ metadata, makeRecurrent, recurrentTerms }) =>
    metadataProblem(metadata ?? {}) ??
    (recurrentTerms && termsProblem(recurrentTerms)) ??
    (recurrentTerms && !makeRecurrent
      ? validationMessage('recurrentTerms', 'no_match', 'requires makeRecurrent')
      : undefined),
  bodyExample: invoiceExample,
  status: 201,
  response: InvoiceAndToken,
  errors: [
    'invalidPartyID',
    ...tradingRefusals,
    'invalidInvoiceCart',
    'invalidInvoiceCost',
    'allocationNotPermitted',
    'externalIDConflict',
  ],
  handle: async ({ caller, body, now }, deps: Deps) => {
    const { db, merchants } = deps;
    const party = await merchants.party(caller.partyId);
    if (!party) return refuse('invalidPartyID');
    const shop = await merchants.shop(party.id, body.shopID);
    const command = commandOf(body, deps.ids.next());
    const fingerprint = fingerprintOf(body);
    return createIdempotently({
      externalId: body.externalID,
      fingerprint,
      order: 'makeFirst',
      find: (externalId) => findInvoiceByExternalId(db, party.id, externalId),
      respond: async (invoice) => {
        const trading = await merchants.trading(invoice);
        return trading.ok ? accept(invoiceAndToken(invoice, deps.tokens)) : trading;
      },
      compared: (invoice) => ({ sent: decisive(body), kept: invoiceBody(invoice) }),
      make: async () => {
        const decision = decideCreate(party, shop, command, now);
        if (!decision.ok) return decision;
        const { terms } = decision.value;
        const warnings = [...dueDateWarnings(terms, now), ...(await consentWarnings(terms, deps))];
        if (!(await storeNewInvoice(db, decision.value, fingerprint))) return 'externalIdTaken';
        if (command.dueDate <= now) db.afterCommit(() => deps.jobs.wake());
        return accept(invoiceAndToken(evolve(undefined, decision.value), deps.tokens), warnings);
      },
    });
  },
});

function dueDateWarnings({ dueDate }: InvoiceTerms, now: Instant): Warning[] {
  return dueDate <= now ? [{ code: 'dueDatePast', field: 'dueDate' }] : [];
}

async function consentWarnings(
  { partyId, shopId, recurring: terms }: InvoiceTerms,
  { db, consents }: Pick<Deps, 'db' | 'consents'>,
): Promise<Warning[]> {
  if (!terms) return [];
  const settings = terms.amountRule ? {} : await consents.settings(db, { partyId, shopId });
  return amountWarnings(terms, settings.terms);
}

function commandOf(body: InvoiceParams, id: string): CreateInvoice {
  const { amount, cart, description, bankAccount, clientInfo, allocation } = body;
  const { makeRecurrent, recurrentTerms = {}, randomizeAmount } = body;
  return {
    id,
    currency: body.currency,
    product: body.product,
    dueDate: instantOf(body.dueDate),
    metadata: body.metadata ?? {},
    allocation,
    ...defined({
      partyId: body.partyID,
      externalId: body.externalID,
      amountMinor: amount === undefined ? undefined : BigInt(amount),
      cart: cart && cartOf(cart),
      description,
      bankAccount,
      clientInfo,
      recurring: makeRecurrent ? termsIn(recurrentTerms) : undefined,
      randomAmount: randomizeAmount && randomAmountOf(randomizeAmount, id),
    }),
  };
}

/** For the hint of a conflict. */
function decisive({ shopID, amount, currency, product, dueDate }: InvoiceParams) {
  return { shopID, amount, currency, product, dueDate };
}

/** Two requests are the same if these fields are equal. Other fields do not matter. */
function fingerprintOf({ shopID, amount, currency, product, dueDate, ...body }: InvoiceParams): Buffer {
  const { cart, bankAccount, allocation, makeRecurrent, recurrentTerms, randomizeAmount } = body;
  const account = bankAccount && [bankAccount.account, bankAccount.bankBik];
  const lines = cart && cartIdentity(cart);
  // Stored fingerprints of plain invoices have no further value.
  const wish = makeRecurrent ? [recurrentTerms] : [];
  return requestFingerprint([
    shopID,
    amount,
    currency,
    product,
    dueDate,
    lines,
    account,
    allocation,
    ...wish,
    ...(randomizeAmount
      ? [{ randomizeAmount: { precision: 2, direction: 'both', ...randomizeAmount } }]
      : []),
  ]);
}

/** The ID is random, so its hash is the draw: nothing else of the request is left to chance. */
function randomAmountOf(wish: NonNullable<InvoiceParams['randomizeAmount']>, id: string): RandomAmount {
  const minor = (amount: number | undefined) => (amount === undefined ? undefined : BigInt(amount));
  return {
    deviationMinor: BigInt(wish.deviation),
    precision: wish.precision ?? 2,
    direction: wish.direction ?? 'both',
    draw: createHash('sha256').update(`amount ${id}`).digest().readBigUInt64BE(),
    ...defined({
      minMinor: minor(wish.minAmountCondition),
      maxMinor: minor(wish.maxAmountCondition),
      multipleOfMinor: minor(wish.amountMultiplicityCondition),
    }),
  };
}
