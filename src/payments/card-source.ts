// Where the card of a new payment comes from: a token of a payer who is present, a parent payment, or a customer. What was read decides
// in domain/payer/charged-payer.ts.
import type { Approval } from '../acquiring/authorisation/domain/approval.ts';
import type { Banks } from '../acquiring/banks.ts';
import type { InstalmentSequence } from '../acquiring/domain/initiation.ts';
import type { Caller } from '../caller.ts';
import type { CardDetails, PaymentSystem } from '../cards/domain/card.ts';
import type { EnteredWith, PaymentResource } from '../cards/domain/payment-resource.ts';
import type { PayerAttempts } from '../cards/payer-attempts.ts';
import type { Cards } from '../cards/vault.ts';
import type { Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Database } from '../platform/database/database.ts';
import { seriesIdOf } from '../recurring/domain/series.ts';
import type { Charging, Consents, Evaluation } from '../recurring/port.ts';
import { accept, refuse, type Outcome } from '../refusal.ts';
import { unlessPaused, type ChargeRefusal } from '../retry-rules/domain/may-charge.ts';
import { presentPayerOf } from './api/payer-present.ts';
import type { PaymentParams } from './api/schema.ts';
import type { PayableInvoice } from './domain/commands.ts';
import {
  payerOfCustomer,
  payerOfParent,
  seriesOfParent,
  type Contact,
} from './domain/payer/charged-payer.ts';
import { noSavedCard } from './domain/payer/chargeable-customer.ts';
import type { Payer, Retry } from './domain/payer/payer.ts';
import type { Payment, PaymentTerms } from './domain/payment.ts';
import type { ChargeableCustomers } from './chargeable-customers.ts';
import { findPayment, type WithPayment } from './store/payments.ts';

export type CardSourceDeps = {
  readonly db: Database;
  readonly customers: ChargeableCustomers;
  readonly charging: Charging;
  readonly consents: Consents;
  readonly cards: Cards;
  readonly payerAttempts: PayerAttempts;
  readonly banks: Pick<Banks, 'pausedUntil'>;
};

export type PayerRefusal =
  | 'invalidRequest'
  | 'invalidPaymentToolToken'
  | 'invalidPaymentSession'
  | 'invalidRecurrentParent'
  | 'customerNotReady'
  | ChargeRefusal['code'];

type PayerParams<Type> = PaymentParams['payer'] & { payerType: Type };

/** What a subscription says of its charge. */
type OfSubscription = {
  readonly sequence?: InstalmentSequence;
  readonly retry?: Retry;
  readonly waitsForOthers?: true;
};

export type CardSource = { readonly caller: Caller; readonly now: Instant } & (
  | {
      readonly from: 'resource';
      readonly payer: PayerParams<'PaymentResourcePayer'>;
      readonly resource: PaymentResource;
    }
  /** The payer of a saved card is present. */
  | {
      readonly from: 'savedCard';
      readonly payer: PayerParams<'CustomerPayer'>;
      readonly enteredWith: EnteredWith;
    }
  | ({ readonly from: 'parent'; readonly payer: PayerParams<'RecurrentPayer'> } & OfSubscription)
  | ({ readonly from: 'customer'; readonly payer: PayerParams<'CustomerPayer'> } & OfSubscription)
);
type SourceFrom<From extends CardSource['from']> = CardSource & { from: From };

/** A card that a payer who is present has entered or saved, or that of a series that may be charged. */
export type SelectedCard = { readonly payer: Payer; readonly paymentSystem: PaymentSystem } & (
  | { readonly entered: PaymentResource }
  | { readonly evaluation: Evaluation }
);

type Asked = {
  readonly caller: Caller;
  readonly payer: PaymentParams['payer'];
  readonly invoiceId: string;
  /** Undefined if the request does not say where it comes from. */
  readonly address: string | undefined;
  readonly countedAs: string;
  readonly now: Instant;
};

export async function cardSourceOf(
  { caller, payer, invoiceId, address, countedAs, now }: Asked,
  { db, cards }: Pick<CardSourceDeps, 'db' | 'cards'>,
): Promise<Outcome<CardSource, PayerRefusal>> {
  if (payer.payerType === 'RecurrentPayer') return accept({ from: 'parent', caller, payer, now });
  if (payer.payerType === 'CustomerPayer') {
    const { present, clientInfo } = payer;
    if (!present || !clientInfo) return accept({ from: 'customer', caller, payer, now });
    if (address === undefined)
      return refuse('invalidRequest', { message: "Malformed 'x-forwarded-for' header" });
    const enteredWith = presentPayerOf(clientInfo, caller, { address, countedAs });
    return accept({ from: 'savedCard', caller, payer, enteredWith, now });
  }
  const handles = { token: payer.paymentToolToken, ...defined({ session: payer.paymentSession }) };
  const resource = await cards.use(db, caller, handles, now, { kind: 'invoice', id: invoiceId });
  if (!resource.ok) return resource;
  return accept({ from: 'resource', caller, payer, resource: resource.value, now });
}

/** Two requests are the same if these values are equal. */
export function identityOf(source: CardSource): readonly unknown[] {
  const { payerType } = source.payer;
  switch (source.from) {
    case 'resource':
      return [payerType, source.resource.cardMatchHash.toString('hex')];
    case 'savedCard':
      return [payerType, source.payer.customerID, 'present'];
    case 'parent': {
      const { invoiceID, paymentID } = source.payer.recurrentParentPayment;
      return [payerType, invoiceID, paymentID];
    }
    case 'customer':
      return [payerType, source.payer.customerID];
  }
}

/** The card of a payer who is present. Undefined if the payer is not. */
export async function presentCardOf(
  source: CardSource,
  { customers, db }: Pick<CardSourceDeps, 'customers' | 'db'>,
  invoice: PayableInvoice,
): Promise<Outcome<CardDetails | undefined, PayerRefusal>> {
  if (source.from === 'resource') return accept(source.resource.card);
  if (source.from !== 'savedCard') return accept(undefined);
  const found = await savedCardOf(customers, db, source, invoice);
  return found.ok ? accept(found.value.card.details) : found;
}

/** Reads, and writes nothing but a copy of a saved card. With `isLocked`, the rows it read stay locked until the transaction ends. */
export function selectCard(
  { source, isLocked }: { readonly source: CardSource; readonly isLocked: boolean },
  deps: CardSourceDeps,
  invoice: PayableInvoice,
): Promise<Outcome<SelectedCard, PayerRefusal>> {
  switch (source.from) {
    case 'resource':
      return Promise.resolve(accept(enteredCard(source.resource, contactOf(source.payer))));
    case 'savedCard':
      return copyOfSavedCard(source, deps, invoice);
    case 'parent':
      return cardOfParent(source, { ...deps, isLocked }, invoice);
    case 'customer':
      return cardOfCustomer(source, deps, invoice);
  }
}

/** What the statement that creates the payment writes besides it. */
export function withPaymentOf(
  selected: SelectedCard,
  { invoiceId, id: paymentId, amount, createdAt }: PaymentTerms,
  { charging, payerAttempts }: Pick<CardSourceDeps, 'charging' | 'payerAttempts'>,
): WithPayment {
  if ('entered' in selected)
    return { keeps: selected.entered.token, attempt: payerAttempts.attemptOf(selected.entered) };
  const charge = { invoiceId, paymentId, amount };
  return { charges: charging.chargeStarted(selected.evaluation, charge, createdAt) };
}

function enteredCard(
  resource: PaymentResource,
  about: Contact & Pick<Payer & { type: 'resource' }, 'savedBy'>,
): SelectedCard {
  const { token, session, card, clientInfo } = resource;
  const payer = { type: 'resource', token, session, card, clientInfo, ...about } as const;
  return { payer, paymentSystem: card.paymentSystem, entered: resource };
}

/** The payment gets a copy of the card, with the facts of this visit. Neither a series nor its consent takes part. */
async function copyOfSavedCard(
  source: SourceFrom<'savedCard'>,
  { db, customers, cards }: CardSourceDeps,
  invoice: PayableInvoice,
): Promise<Outcome<SelectedCard, PayerRefusal>> {
  const { caller, payer, enteredWith, now } = source;
  const found = await savedCardOf(customers, db, source, invoice);
  if (!found.ok) return found;
  const { card: saved, contactInfo } = found.value;
  const madeFor = caller.kind === 'apiKey' ? undefined : ({ kind: 'invoice', id: invoice.id } as const);
  const copy = {
    partyId: caller.partyId,
    token: saved.token,
    clientInfo: enteredWith,
    ...defined({ madeFor, securityCode: payer.cvv }),
  };
  const resource = await cards.tokeniseAgain(db, copy, now);
  if (!resource) return noSavedCard();
  const savedBy = { customerId: payer.customerID, bindingId: saved.bindingId };
  const { sessionInfo } = payer;
  return accept(
    enteredCard(resource, { savedBy, ...contactOf({ contactInfo, ...defined({ sessionInfo }) }) }),
  );
}

async function savedCardOf(
  customers: ChargeableCustomers,
  db: Database,
  { caller, payer }: SourceFrom<'savedCard' | 'customer'>,
  { shopId }: PayableInvoice,
) {
  const customer = await customers.chargeable(db, caller.partyId, payer.customerID);
  if (!customer) return refuse('invalidRequest', { message: 'Customer not found' });
  if (customer.shopId !== shopId) return refuse('invalidRequest', { message: 'Invalid customer' });
  const { card, contactInfo } = customer;
  return card ? accept({ card, contactInfo }) : noSavedCard();
}

async function cardOfParent(
  { caller, payer, now, sequence, retry, waitsForOthers }: SourceFrom<'parent'>,
  { db, charging, banks, isLocked }: CardSourceDeps & { readonly isLocked: boolean },
  invoice: PayableInvoice,
): Promise<Outcome<SelectedCard, PayerRefusal>> {
  const { partyId } = caller;
  const { invoiceID: invoiceId, paymentID: paymentId } = payer.recurrentParentPayment;
  const parent = { invoiceId, paymentId };
  const charge = { parent, ...chargeOf(invoice), ...defined({ waitsForOthers }) };
  const evaluated = (seriesId: string) => charging.evaluate(db, { seriesId, ...charge }, { now, isLocked });
  // A payment that started a series can always be its parent. For any other payment, read its series from the payment.
  let evaluation = await evaluated(seriesIdOf(parent));
  let previous: Approval | undefined;
  if (!evaluation) {
    const found = await findPayment(db, { partyId, ...parent });
    if (!found.ok || found.value.payment.shopId !== invoice.shopId) return unknownParent();
    const seriesId = seriesOfParent(found.value.payment);
    if (!seriesId.ok) return seriesId;
    evaluation = await evaluated(seriesId.value);
    previous = approvalOf(found.value.payment);
  }
  // A foreign series gets the same response as a missing one. A customer's series has an ID of the same form, but only
  // the customer knows the active card.
  const { series, token } = evaluation ?? {};
  const isOurs = series?.partyId === partyId && series.shopId === invoice.shopId;
  if (!evaluation || !series || !token || !isOurs || series.kind !== 'parent') return unknownParent();
  const decision = unlessPaused(evaluation.decision, await banks.pausedUntil(invoice, now));
  const asked = { caller, parent, contact: contactOf(payer), ...defined({ sequence, retry }) };
  const charged = payerOfParent(asked, { ...evaluation, token, decision }, previous);
  if (!charged.ok) return charged;
  return accept({ payer: charged.value, paymentSystem: series.card.paymentSystem, evaluation });
}

async function cardOfCustomer(
  source: SourceFrom<'customer'>,
  { db, customers, charging, consents, cards, banks }: CardSourceDeps,
  invoice: PayableInvoice,
): Promise<Outcome<SelectedCard, PayerRefusal>> {
  const { caller, payer, now, sequence, retry, waitsForOthers } = source;
  const { partyId } = caller;
  const { customerID: customerId, sessionInfo } = payer;
  const found = await savedCardOf(customers, db, source, invoice);
  if (!found.ok) return found;
  const { card, contactInfo } = found.value;
  const { livemode, token, seriesId: named } = card;
  const seriesId = await consents.seriesOfCustomer(db, { named, customerId, partyId, livemode, token });
  const charge = { seriesId, ...chargeOf(invoice), ...defined({ waitsForOthers }) };
  const evaluation = await charging.evaluate(db, charge, { now, isLocked: true });
  if (!evaluation) throw new Error(`Customer ${customerId} is ready but has no series.`);
  const decision = unlessPaused(evaluation.decision, await banks.pausedUntil(invoice, now));
  const contact = contactOf({ contactInfo, ...defined({ sessionInfo }) });
  const asked = { caller, customerId, contact, ...defined({ sequence, retry }) };
  const charged = payerOfCustomer(asked, card, { ...evaluation, decision });
  if (!charged.ok) return charged;
  // The card was deleted when its consent ended. A later binding renewed the consent and was then revoked.
  if (!(await cards.has(db, partyId, token))) return noSavedCard();
  return accept({ payer: charged.value, paymentSystem: card.details.paymentSystem, evaluation });
}

function unknownParent() {
  return refuse('invalidRecurrentParent', {
    hint: 'The shop of the invoice has no series with this payment.',
  });
}

function chargeOf({ id: invoiceId, createdAt: invoiceCreatedAt, amount }: PayableInvoice) {
  return { invoiceId, invoiceCreatedAt, amount };
}

function approvalOf({ state }: Payment): Approval | undefined {
  return 'approval' in state ? state.approval : undefined;
}

function contactOf({
  contactInfo,
  sessionInfo,
}: Pick<Contact, 'contactInfo'> & Pick<PaymentParams['payer'], 'sessionInfo'>): Contact {
  return { contactInfo, ...defined({ redirectUrl: sessionInfo?.redirectUrl }) };
}
