// How the body of a new invoice becomes an invoice: for the operation of its own, and for a charge that creates it too.
import { createHash } from 'node:crypto';
import type { Database } from '../../platform/database/database.ts';
import { validationMessage } from '../../platform/http/errors/validate.ts';
import { instantOf, metadataProblem } from '../../platform/http/schemas.ts';
import { tradingRefusals } from '../../merchants/domain/party.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import { termsIn } from '../../receipts/domain/terms-body.ts';
import { termsProblem } from '../../recurring/api/schema.ts';
import { amountWarnings } from '../../recurring/domain/mandate.ts';
import type { Consents } from '../../recurring/port.ts';
import type { Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import type { Ids } from '../../ids.ts';
import { accept, refuse, type Outcome, type Warning } from '../../refusal.ts';
import {
  decideCreate,
  evolve,
  type CreateInvoice,
  type CreateRefusal,
  type Invoice,
  type InvoiceTerms,
} from '../domain/invoice.ts';
import type { RandomAmount } from '../domain/random-amount.ts';
import { storeNewInvoice } from '../store/invoices.ts';
import { cartIdentity, cartOf, type InvoiceParams } from './schema.ts';

export type NewInvoiceDeps = {
  readonly db: Database;
  readonly ids: Ids;
  readonly merchants: Merchants;
  readonly consents: Pick<Consents, 'settings'>;
};

export const errorsOfNewInvoice = [
  'invalidPartyID',
  ...tradingRefusals,
  'invalidInvoiceCart',
  'invalidInvoiceCost',
  'allocationNotPermitted',
  'externalIDConflict',
] as const;

/** `where` is what the names of its members begin with. */
export function invoiceProblem(
  { metadata, makeRecurrent, recurrentTerms }: InvoiceParams,
  where = '',
): string | undefined {
  return (
    metadataProblem(metadata ?? {}, `${where}metadata`) ??
    (recurrentTerms && termsProblem(recurrentTerms, `${where}recurrentTerms`)) ??
    (recurrentTerms && !makeRecurrent
      ? validationMessage(`${where}recurrentTerms`, 'no_match', `requires ${where}makeRecurrent`)
      : undefined)
  );
}

/** Decides and writes. */
export async function makeInvoice(
  body: InvoiceParams,
  fingerprint: Buffer,
  { partyId, now }: { readonly partyId: string; readonly now: Instant },
  { db, ids, merchants, consents }: NewInvoiceDeps,
): Promise<Outcome<Invoice, CreateRefusal> | 'externalIdTaken'> {
  const party = await merchants.party(partyId);
  if (!party) return refuse('invalidPartyID');
  const shop = await merchants.shop(party.id, body.shopID);
  const decision = decideCreate(party, shop, commandOf(body, ids.next()), now);
  if (!decision.ok) return decision;
  const { terms } = decision.value;
  const warnings = [...dueDateWarnings(terms, now), ...(await consentWarnings(terms, { db, consents }))];
  if (!(await storeNewInvoice(db, decision.value, fingerprint))) return 'externalIdTaken';
  return accept(evolve(undefined, decision.value), warnings);
}

function dueDateWarnings({ dueDate }: InvoiceTerms, now: Instant): Warning[] {
  return dueDate <= now ? [{ code: 'dueDatePast', field: 'dueDate' }] : [];
}

async function consentWarnings(
  { partyId, shopId, recurring: terms }: InvoiceTerms,
  { db, consents }: Pick<NewInvoiceDeps, 'db' | 'consents'>,
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

/** For the hint of a conflict. A random amount differs from the one that was sent. */
export function decisiveOf({ shopID, amount, currency, product, dueDate, randomizeAmount }: InvoiceParams) {
  return { shopID, ...(randomizeAmount ? {} : { amount }), currency, product, dueDate };
}

/** Two requests are the same if these fields are equal. Other fields do not matter. */
export function invoiceIdentity({
  shopID,
  amount,
  currency,
  product,
  dueDate,
  ...body
}: InvoiceParams): readonly unknown[] {
  const { cart, bankAccount, allocation, makeRecurrent, recurrentTerms, randomizeAmount } = body;
  const account = bankAccount && [bankAccount.account, bankAccount.bankBik];
  const lines = cart && cartIdentity(cart);
  // Stored fingerprints of plain invoices have no further value.
  const wish = makeRecurrent ? [recurrentTerms] : [];
  const random = randomizeAmount
    ? [{ randomizeAmount: { precision: 2, direction: 'both', ...randomizeAmount } }]
    : [];
  return [shopID, amount, currency, product, dueDate, lines, account, allocation, ...wish, ...random];
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
