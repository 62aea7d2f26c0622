// Cards that were bound elsewhere: each becomes a binding that has succeeded, of a new customer or one that exists. Its facts are those of
// any binding, marked as imported, so that every node can read them.
import type { Approval } from '../acquiring/authorisation/domain/approval.ts';
import type { NetworkId } from '../acquiring/domain/references.ts';
import type { PaymentResource } from '../cards/domain/payment-resource.ts';
import { latest, type Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Currency } from '../money.ts';
import type { Database } from '../platform/database/database.ts';
import type { ContactInfo, MandateGiven } from '../recurring/domain/mandate.ts';
import { evolveBinding, type BindingFact, type BindingTerms } from './domain/binding.ts';
import {
  afterBound,
  customerStateAfter,
  newCustomer,
  type Customer,
  type CustomerFact,
} from './domain/customer.ts';
import {
  findOwners,
  findTaken,
  storeImportedBindings,
  type CardOwner,
  type ImportedBinding,
  type TakenIds,
} from './store/imported-bindings.ts';

export type { CardOwner, ImportedBinding };

/** What is known of the payment with which the payer agreed. */
export type FirstPayment = {
  readonly createdAt: Instant;
  readonly amountMinor: number;
  readonly currency: Currency;
  readonly reference: string;
  readonly networkId: NetworkId;
  readonly approvalCode?: string;
  readonly eci?: string;
};

export type NewImport = {
  readonly partyId: string;
  readonly shopId: string;
  readonly livemode: boolean;
  readonly externalId: string;
  readonly bindingId: string;
  readonly owner: CardOwner | NewOwner;
  readonly card: PaymentResource;
  readonly given: MandateGiven;
  readonly firstPayment: FirstPayment;
  readonly seriesId: string;
  /** Of the row. */
  readonly fingerprint: Buffer;
};

export type NewOwner = {
  readonly newId: string;
  readonly contactInfo: ContactInfo;
  readonly metadata: object;
};

export type BindingImport = {
  taken(
    partyId: string,
    asked: { readonly bindings: readonly string[]; readonly customers: readonly string[] },
  ): Promise<TakenIds>;
  owners(partyId: string, customerIds: readonly string[]): Promise<ReadonlyMap<string, CardOwner>>;
  bindingOf(imported: NewImport, now: Instant): ImportedBinding;
  store(tx: Database, bindings: readonly ImportedBinding[]): Promise<void>;
};

export function importingBindings(db: Pick<Database, 'run'>): BindingImport {
  return {
    taken: (partyId, asked) => findTaken(db, partyId, asked),
    owners: (partyId, customerIds) => findOwners(db, partyId, customerIds),
    bindingOf,
    store: storeImportedBindings,
  };
}

export function approvalOf({ reference, networkId, approvalCode, eci }: FirstPayment): Approval {
  return {
    reference,
    references: { acquirer: reference },
    networkTransactionId: networkId.value,
    networkIds: [networkId],
    ...defined({ approvalCode, eci }),
  };
}

function bindingOf(imported: NewImport, now: Instant): ImportedBinding {
  const { owner, bindingId, seriesId, card, fingerprint } = imported;
  const created = 'newId' in owner ? creationOf(imported, owner, now) : undefined;
  const at = 'newId' in owner ? now : latest(now, owner.changedAt);
  const before = 'newId' in owner ? undefined : owner;
  const state = before?.state ?? ({ name: 'unready' } as const);
  const terms = termsOf(imported, (before?.bindingsMade ?? 0) + 1, at);
  const approval = approvalOf(imported.firstPayment);
  const ofBinding: BindingFact[] = [
    { type: 'binding_started', terms },
    { type: 'binding_charged', approval, returnBy: at },
    { type: 'binding_succeeded' },
  ];
  const bound = afterBound({ state }, bindingId);
  const binding = ofBinding.reduce<ReturnType<typeof evolveBinding> | undefined>(evolveBinding, undefined);
  if (!binding) throw new Error('An imported binding has no facts.');
  const customer: Customer = {
    ...(created ? newCustomer(created) : ownerAsCustomer(imported, owner as CardOwner)),
    state: customerStateAfter(state, bound),
    bindingsMade: terms.number,
  };
  return {
    binding,
    seriesId,
    cardFingerprint: card.fingerprint.hash,
    fingerprint,
    customer,
    version: (before?.version ?? 0) + 1,
    isNewCustomer: created !== undefined,
    facts: [...(created ? [created] : []), ...ofBinding, bound],
    at,
  };
}

function creationOf(
  { partyId, shopId, externalId }: NewImport,
  { newId: id, contactInfo, metadata }: NewOwner,
  now: Instant,
): CustomerFact & { type: 'customer_created' } {
  return {
    type: 'customer_created',
    terms: { id, partyId, shopId, createdAt: now, contactInfo, metadata, externalId },
  };
}

/** Only what changes is written. */
function ownerAsCustomer({ partyId }: NewImport, owner: CardOwner): Customer {
  return { ...owner, partyId, createdAt: owner.changedAt, metadata: {} };
}

/** No bank has a part in it, so the report of none is compared with it. */
const nowhere = { id: '', bankId: '', merchantId: '', descriptor: '' };

function termsOf(imported: NewImport, number: number, at: Instant): BindingTerms {
  const { partyId, shopId, livemode, externalId, bindingId, owner, card, given, firstPayment } = imported;
  const { amountMinor, currency } = firstPayment;
  const { token, session, card: details, clientInfo } = card;
  return {
    customerId: 'newId' in owner ? owner.newId : owner.id,
    id: bindingId,
    number,
    partyId,
    shopId,
    createdAt: at,
    amount: { minor: BigInt(amountMinor), currency },
    card: { token, session, details, clientInfo },
    ...defined({ email: owner.contactInfo.email }),
    recurrentTerms: given,
    imported: true,
    externalId,
    deadline: at,
    terminal: nowhere,
    livemode,
  };
}
