// POST /v2/processing/charges: an invoice, and the payment of it with a stored card, in one transaction. Its external ID is the
// invoice's, so a repeat returns both.
import { Type, type Static } from 'typebox';
import { validationMessage } from '../../platform/http/errors/validate.ts';
import { endpoint, type EndpointRequest } from '../../platform/http/endpoint.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import type { AwaitedOutcome } from '../../platform/http/waiting/outcome-waits.ts';
import { allOrNothing } from '../../platform/database/all-or-nothing.ts';
import type { Database } from '../../platform/database/database.ts';
import { invoiceBody, InvoiceParams, InvoiceSchema } from '../../invoices/api/schema.ts';
import type { Invoice } from '../../invoices/domain/invoice.ts';
import {
  decisiveOf,
  errorsOfNewInvoice,
  invoiceIdentity,
  invoiceProblem,
  makeInvoice,
  type NewInvoiceDeps,
} from '../../invoices/port.ts';
import { findInvoiceByExternalId, loadInvoice } from '../../invoices/store/invoices.ts';
import { accept, refuse } from '../../refusal.ts';
import { cardSourceOf, identityOf } from '../card-source.ts';
import { startPayment, type PaymentWish, type StartPaymentDeps } from '../start-payment.ts';
import { findPayableInvoice, loadPayment } from '../store/payments.ts';
import { deadlineOf, errorsOfPayment, flowIdentity, paymentProblem } from './create-payment.ts';
import { awaitedStateOf } from './outcomes.ts';
import { paymentBody, PaymentParams, PaymentSchema } from './schema.ts';

const ChargeParams = Type.Object(
  { invoice: InvoiceParams, payment: PaymentParams },
  { title: 'ChargeParams' },
);
type ChargeParams = Static<typeof ChargeParams>;

const Charge = Type.Object({ invoice: InvoiceSchema, payment: PaymentSchema }, { title: 'Charge' });
type ChargeBody = Static<typeof Charge>;

/** What makes a body none of a charge, which the shapes of its parts allow. */
function chargeProblem({ invoice, payment }: ChargeParams): string | undefined {
  const { payer, externalID } = payment;
  if (invoice.externalID === undefined)
    return validationMessage('invoice.externalID', 'missed', 'is required: a repeat would charge twice');
  if (externalID !== undefined)
    return validationMessage('payment.externalID', 'no_match', 'must be left out: send invoice.externalID');
  if (payer.payerType === 'PaymentResourcePayer')
    return validationMessage('payment.payer', 'no_match', 'must be a RecurrentPayer or a CustomerPayer');
  if (payer.payerType !== 'CustomerPayer' || payer.present !== true) return undefined;
  return validationMessage(
    'payment.payer.present',
    'no_match',
    'must not be true: a charge has no payer present',
  );
}

type Deps = NewInvoiceDeps & StartPaymentDeps;
type ChargeRequest = EndpointRequest<undefined, undefined, ChargeParams>;

const invoicePart = 'invoice.';
const paymentPart = 'payment.';
/** Of a charge. If it fails, its invoice may be paid by another, which is no part of the charge. */
const paymentId = '1';

const chargeOutcome: AwaitedOutcome<unknown, ChargeBody, { readonly db: Database }> = {
  job: ({ payment }) => ['payment', [payment.invoiceID, payment.id]],
  look: async ({ db }, { answer: { payment: of }, caller }) => {
    // The payment first: what is read of the invoice then is at least as new.
    const payment = (await loadPayment(db, { invoiceId: of.invoiceID, paymentId: of.id }))?.payment;
    const invoice = await loadInvoice(db, of.invoiceID);
    if (!payment || !invoice) return undefined;
    const body = { invoice: invoiceBody(invoice), payment: paymentBody(payment, caller) };
    return { body, is: awaitedStateOf(payment) };
  },
};

export const createCharge = endpoint({
  operation: 'createCharge',
  access: { scope: 'payments:write', alsoScope: 'invoices:write' },
  method: 'POST',
  path: '/v2/processing/charges',
  tag: 'Payments',
  summary: 'Charge a stored card',
  description:
    'Creates an invoice and its payment without the payer, or neither. Requires `invoice.externalID`.',
  body: ChargeParams,
  bodyExample: {
    invoice: {
      shopID: 'TEST',
      externalID: 'order-12345',
      dueDate: '2030-01-20T10:00:00Z',
      amount: 6000,
      currency: 'RUB',
      product: 'Order',
    },
    payment: { payer: { payerType: 'CustomerPayer', customerID: 'the ID of your customer' } },
  },
  validateBody: (body) =>
    invoiceProblem(body.invoice, invoicePart) ??
    chargeProblem(body) ??
    paymentProblem(body.payment, paymentPart),
  // As where the payment is created alone.
  excludeFromHash: ['payment.payer.cvv', 'payment.authenticated.value'],
  status: 201,
  response: Charge,
  outcome: chargeOutcome,
  isOfOthers: true,
  errors: [...errorsOfPayment, ...errorsOfNewInvoice],
  handle: async (request, deps: Deps) => {
    const { caller, body, now, address, countedAs } = request;
    const { partyId } = caller;
    const { invoice, payment } = body;
    const deadline = deadlineOf(payment.processingDeadline, now);
    if (deadline === 'unreadable') return refuse('invalidProcessingDeadline');
    // A stored card is looked up only once the invoice is written.
    const asked = { caller, payer: payment.payer, invoiceId: '', address, countedAs, now };
    const source = await cardSourceOf(asked, deps);
    if (!source.ok) return source;
    const identity = [
      'charge',
      ...invoiceIdentity(invoice),
      ...flowIdentity(payment),
      ...identityOf(source.value),
    ];
    const fingerprint = requestFingerprint(identity);
    const wish = {
      params: payment,
      deadline,
      source: source.value,
      fingerprint,
      where: paymentPart,
      isLocked: true,
    };
    return createIdempotently({
      externalId: invoice.externalID,
      fingerprint,
      order: 'findFirst',
      find: (externalId) => findInvoiceByExternalId(deps.db, partyId, externalId),
      respond: (earlier) => chargeOf(earlier, request, deps),
      compared: (earlier) => ({ sent: decisiveOf(invoice), kept: invoiceBody(earlier) }),
      make: () => allOrNothing(deps.db, (db) => makeCharge(request, wish, { ...deps, db })),
    });
  },
});

/** The same rules as of a repeated invoice: only a party or shop that is suspended has no answer. */
async function chargeOf(invoice: Invoice, { caller }: ChargeRequest, { db, merchants }: Deps) {
  const trading = await merchants.trading(invoice);
  if (!trading.ok) return trading;
  const stored = await loadPayment(db, { invoiceId: invoice.id, paymentId });
  if (!stored) return 'otherRequest';
  return accept({ invoice: invoiceBody(invoice), payment: paymentBody(stored.payment, caller) });
}

/** Within a transaction, which a refusal of either part rolls back. */
async function makeCharge({ caller, body, now }: ChargeRequest, wish: PaymentWish, deps: Deps) {
  const { partyId } = caller;
  const invoice = await makeInvoice(body.invoice, wish.fingerprint, { partyId, now }, deps);
  // Another request has used the external ID. The next try finds what it made.
  if (invoice === 'externalIdTaken') return 'versionConflict';
  if (!invoice.ok) return invoice;
  const { id } = invoice.value;
  const payable = await findPayableInvoice(deps.db, partyId, id);
  if (!payable) throw new Error(`Invoice ${id} is not found in the transaction that wrote it.`);
  const payment = await startPayment(payable, { caller, now, wish }, deps);
  if (payment === 'versionConflict' || !payment.ok) return payment;
  const warnings = (invoice.warnings ?? []).map(({ code, field }) => ({ code, field: invoicePart + field }));
  return accept({ invoice: invoiceBody(invoice.value), payment: payment.value }, [
    ...warnings,
    ...(payment.warnings ?? []),
  ]);
}
