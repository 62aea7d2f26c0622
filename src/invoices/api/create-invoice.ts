// POST /v2/processing/invoices: the first step of everything that is paid.
import { hash } from 'node:crypto';
import type { Static } from 'typebox';
import { parseInstant, type Instant } from '../../clock.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { metadataProblem } from '../../platform/http/schemas.ts';
import { isStopped } from '../../merchants/domain/party.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { decideCreate, type CreateInvoice, type Invoice } from '../domain/invoice.ts';
import { findInvoiceNamed, storeNewInvoice } from '../store/invoices.ts';
import { cartOf, InvoiceAndToken, invoiceBody, invoiceExample, InvoiceParams } from './schema.ts';
import { defined } from '../../defined.ts';
import type { AccessTokens } from '../../platform/keys/access-token.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Ids } from '../../ids.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { JobRunner } from '../../platform/jobs/job-runner.ts';

type Deps = {
  readonly db: Database;
  readonly ids: Ids;
  readonly merchants: Merchants;
  readonly tokens: AccessTokens;
  readonly jobs: JobRunner;
};

export const createInvoice = endpoint({
  operation: 'createInvoice',
  access: { scope: 'invoices:write' },
  method: 'POST',
  path: '/v2/processing/invoices',
  tag: 'Invoices',
  summary: 'Create an invoice',
  description:
    'An invoice says what is to be paid, to which shop and until when. The answer carries an access token for it, ' +
    'good for three days, which may be given to a browser. Unpaid at its due date it is cancelled by itself.',
  body: InvoiceParams,
  validateBody: ({ metadata }) => metadataProblem(metadata ?? {}),
  bodyExample: invoiceExample,
  status: 201,
  response: InvoiceAndToken,
  errors: [
    'invalidPartyID',
    'invalidShopID',
    'invalidPartyStatus',
    'invalidShopStatus',
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

    const decision = decideCreate(party, shop, command, now);
    if (decision.ok && decision.value.type === 'invoice_created') {
      if (await storeNewInvoice(db, decision.value, fingerprint)) {
        if (command.dueDate <= now) db.afterCommit(() => deps.jobs.wake());
        return accept(bodyOf({ ...decision.value.terms, status: 'unpaid', paymentInProgress: false }, deps));
      }
    }
    // Only whether they may trade at all comes before the answer to a repeated request: what it asked for was done.
    const repeated = await answerToRepeat(body, fingerprint, party.id, deps);
    if (repeated && !(repeated.ok && isStopped(decision))) return repeated;
    if (!decision.ok) return decision;
    throw new Error('an invoice was neither made nor found by its externalID');
  },
});

async function answerToRepeat(
  body: InvoiceParams,
  fingerprint: Buffer,
  partyId: string,
  deps: Deps,
): Promise<Outcome<Static<typeof InvoiceAndToken>, 'externalIDConflict'> | undefined> {
  if (body.externalID === undefined) return undefined;
  const earlier = await findInvoiceNamed(deps.db, partyId, body.externalID);
  if (!earlier) return undefined;
  if (!earlier.fingerprint.equals(fingerprint)) {
    const details = { externalID: body.externalID, id: earlier.invoice.id };
    return refuse('externalIDConflict', { details });
  }
  return accept(bodyOf(earlier.invoice, deps));
}

function bodyOf(invoice: Invoice, { tokens }: { tokens: AccessTokens }): Static<typeof InvoiceAndToken> {
  const payload = tokens.issue({ kind: 'invoice', entityId: invoice.id, partyId: invoice.partyId });
  return { invoice: invoiceBody(invoice), invoiceAccessToken: { payload } };
}

function commandOf(body: InvoiceParams, id: string): CreateInvoice {
  const { partyID, externalID, amount, cart, dueDate, metadata = {}, shopID: _, ...rest } = body;
  return {
    ...rest,
    id,
    metadata,
    dueDate: instantOf(dueDate),
    ...defined({ partyId: partyID, externalId: externalID }),
    ...(amount === undefined ? {} : { amountMinor: BigInt(amount) }),
    ...(cart === undefined ? {} : { cart: cartOf(cart) }),
  };
}

function instantOf(text: string): Instant {
  const instant = parseInstant(text);
  if (instant === undefined) throw new Error('the schema let a date-time pass that cannot be read');
  return instant;
}

/** What makes two requests the same request; the order of cart lines does not matter, nor does anything left out here. */
function fingerprintOf(body: InvoiceParams): Buffer {
  const lines = body.cart?.map((line) =>
    JSON.stringify([line.product, line.quantity ?? 1, line.price, line.taxMode?.rate ?? null]),
  );
  const { bankAccount } = body;
  const significant = [
    body.shopID,
    body.amount ?? null,
    body.currency,
    body.product,
    body.dueDate,
    lines?.sort() ?? null,
    bankAccount ? [bankAccount.account, bankAccount.bankBik] : null,
    body.allocation ?? null,
  ];
  return hash('sha256', JSON.stringify(significant), 'buffer');
}
