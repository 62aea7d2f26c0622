// One line of a file to import: a card, its owner, what the payer agreed to, and the network's ID of their first payment. What is wrong
// with a line is said without any of its values.
import { createHash } from 'node:crypto';
import { Type, type Static } from 'typebox';
import { networkIdKinds, type NetworkIdKind } from '../acquiring/domain/references.ts';
import { CardHolder } from '../cards/api/schema.ts';
import {
  checkCard,
  givesAway,
  paymentSystemOf,
  type Card,
  type PaymentSystem,
} from '../cards/domain/card.ts';
import { holdsCardNumber } from '../cards/domain/written-numbers.ts';
import type { Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import { isKnownCurrency } from '../money.ts';
import { ContactInfo } from '../payments/api/schema.ts';
import { declaredReader, noUnknownMembers } from '../platform/http/request/declared-members.ts';
import { compileCheck } from '../platform/http/errors/validate.ts';
import {
  Amount,
  CurrencyCode,
  DateTime,
  EntityID,
  ExternalID,
  instantOf,
  Metadata,
  metadataProblem,
} from '../platform/http/schemas.ts';
import { mandateGiven, RecurrentTerms, recurrentTermsProblem } from '../recurring/api/schema.ts';
import type { MandateGiven } from '../recurring/domain/mandate.ts';

const visible = (maxLength: number) => Type.String({ pattern: `^[!-~]{1,${maxLength}}$` });

const Row = Type.Object({
  externalID: ExternalID,
  shopID: EntityID,
  /** Of a customer that exists. Without either ID the row makes one. */
  customerID: Type.Optional(EntityID),
  customerExternalID: Type.Optional(ExternalID),
  contactInfo: Type.Optional(ContactInfo),
  metadata: Type.Optional(Metadata),
  card: Type.Object({
    cardNumber: Type.String({ pattern: '^\\d{12,19}$' }),
    expDate: Type.String({ pattern: '^\\d{2}/(\\d{2}|\\d{4})$' }),
    cardHolder: Type.Optional(CardHolder),
  }),
  recurrentTerms: RecurrentTerms,
  firstPayment: Type.Object({
    createdAt: DateTime,
    amount: Amount,
    currency: CurrencyCode,
    /** The former provider's ID of it. */
    reference: visible(64),
    networkTransactionID: Type.Object({ kind: Type.String(), value: visible(64) }),
    approvalCode: Type.Optional(visible(6)),
    eci: Type.Optional(visible(2)),
    ip: Type.Optional(Type.String({ maxLength: 45 })),
  }),
  lastChargedAt: Type.Optional(DateTime),
});
type Row = Static<typeof Row>;

const checkRow = compileCheck(Row);
const readDeclared = declaredReader(Row);

/** A row that can be imported, as far as it can be said without looking anything up. */
export type CheckedRow = Pick<
  Row,
  'externalID' | 'shopID' | 'customerID' | 'customerExternalID' | 'contactInfo' | 'metadata'
> & {
  readonly card: Card;
  readonly given: MandateGiven;
  readonly firstPayment: Omit<Row['firstPayment'], 'createdAt' | 'currency' | 'networkTransactionID'> & {
    readonly createdAt: Instant;
    readonly currency: string;
    readonly networkId: { readonly kind: NetworkIdKind; readonly value: string };
  };
  readonly lastChargedAt?: Instant;
  /** All that the row says, apart from the number and the expiry of the card. */
  readonly rest: object;
};

export type Read =
  | { readonly ok: true; readonly row: CheckedRow }
  | { readonly ok: false; readonly reason: string };

export function readRow(text: string, now: Instant): Read {
  let row: unknown;
  try {
    row = JSON.parse(text);
  } catch {
    return no('is not JSON');
  }
  const fault = checkRow(row)?.next().value;
  if (fault) return no(`${fault.where} ${fault.description}`);
  const unknown = unknownIn(row);
  if (unknown !== undefined) return no(unknown);
  const { card: entered, firstPayment, recurrentTerms, lastChargedAt, ...owner } = row as Row;
  const { cardNumber: number, expDate, cardHolder: holder } = entered;
  const rest = { ...owner, cardHolder: holder, firstPayment, recurrentTerms, lastChargedAt };
  const problem = textProblem(rest, number) ?? ownerProblem(owner) ?? consentProblem(recurrentTerms);
  if (problem !== undefined) return no(problem);
  // Whether it has expired since counts only for a row that is not imported yet.
  const card = checkCard({ number, expDate, ...defined({ holder }) }, instantOf(firstPayment.createdAt));
  if (!card.ok) return no(`card: ${card.refusal.message ?? card.refusal.code}`);
  const payment = paymentIn(firstPayment, now);
  if (typeof payment === 'string') return no(payment);
  if (!fitsNetwork(paymentSystemOf(number), payment.networkId.kind))
    return no('firstPayment.networkTransactionID.kind is not of the network of the card');
  const charged = lastChargedAt === undefined ? undefined : instantOf(lastChargedAt);
  if (charged !== undefined && (charged < payment.createdAt || charged > now))
    return no('lastChargedAt is before the first payment, or in the future');
  const given = mandateGiven(recurrentTerms, sha256);
  const checked = { ...owner, card: card.value, given, firstPayment: payment, rest };
  return { ok: true, row: { ...checked, ...defined({ lastChargedAt: charged }) } };
}

/** A misspelt date of a consent would be no date. An unknown member may have anything as its name. */
function unknownIn(row: unknown): string | undefined {
  const unknown = noUnknownMembers();
  readDeclared(row, unknown);
  const [member] = unknown.first;
  if (!member) return undefined;
  const path = [member.within, member.name].filter((part) => part !== '').join('.');
  return /^[a-zA-Z.]{1,60}$/.test(path) ? `${path} is not a member of a row` : 'has a member that no row has';
}

/** What cards of a network quote; those of others have IDs without a kind. */
const kindsOf: Partial<Record<PaymentSystem, readonly NetworkIdKind[]>> = {
  visa: ['visaTid', 'other'],
  mastercard: ['mcTrace', 'mcLink', 'other'],
  maestro: ['mcTrace', 'mcLink', 'other'],
};

/** Whether cards of the network quote such an ID. */
function fitsNetwork(system: PaymentSystem | undefined, kind: NetworkIdKind): boolean {
  return ((system && kindsOf[system]) ?? ['other']).includes(kind);
}

function ownerProblem({ customerID, customerExternalID, contactInfo, metadata }: Partial<Row>) {
  const isNamed = customerID !== undefined || customerExternalID !== undefined;
  if (customerID !== undefined && customerExternalID !== undefined)
    return 'customerID and customerExternalID cannot be together';
  if (isNamed && (contactInfo !== undefined || metadata !== undefined))
    return 'contactInfo and metadata belong to a new customer alone';
  return metadata && metadataProblem(metadata) !== undefined ? 'metadata is too long' : undefined;
}

/** Without them, terms of the shop would apply that this payer has never seen. */
function consentProblem(terms: RecurrentTerms): string | undefined {
  const { consent, amountRule, schedule } = terms;
  if (!consent) return 'recurrentTerms.consent is missing';
  if (!amountRule) return 'recurrentTerms.amountRule is missing';
  if (schedule === undefined) return 'recurrentTerms.schedule is missing';
  return recurrentTermsProblem(terms) === undefined ? undefined : 'recurrentTerms cannot be read';
}

/** A half of a surrogate pair, or a zero character, which PostgreSQL does not store. */
const unstorable = /\\u(0000|d[89a-f][0-9a-f]{2})|\ufffd/;
/** Others have numbered these: one in ten has the checksum of a card. */
const numbered = new Set(['externalID', 'customerExternalID', 'reference', 'value', 'textHash']);

/** Everything but the card is kept in the clear. */
function textProblem(rest: { readonly metadata?: unknown }, number: string): string | undefined {
  const text = JSON.stringify(rest);
  if (unstorable.test(text)) return 'holds a character that cannot be stored';
  if (givesAway(text, number)) return 'holds the number of its card outside of card.cardNumber';
  const { metadata, ...declared } = rest;
  const holds = holdsNumber(declared, numbered) || holdsNumber(metadata, new Set());
  return holds ? 'holds a card number outside of card.cardNumber' : undefined;
}

/** `numbers` are the members whose text may look like a card number. */
function holdsNumber(within: unknown, numbers: ReadonlySet<string>): boolean {
  let holds = false;
  JSON.stringify(within, (name, value: unknown) => {
    const isText = typeof value === 'string' || typeof value === 'number';
    holds ||= holdsCardNumber(name) || (isText && !numbers.has(name) && holdsCardNumber(String(value)));
    return value;
  });
  return holds;
}

function paymentIn(payment: Row['firstPayment'], now: Instant): CheckedRow['firstPayment'] | string {
  const { createdAt: at, networkTransactionID, ...rest } = payment;
  const createdAt = instantOf(at);
  if (createdAt > now) return 'firstPayment.createdAt is in the future';
  if (!isKnownCurrency(rest.currency)) return 'firstPayment.currency is not known';
  const kind = networkIdKinds.find((known) => known === networkTransactionID.kind);
  if (kind === undefined)
    return `firstPayment.networkTransactionID.kind is of no known network: use ${networkIdKinds.join(', ')}`;
  return { ...rest, createdAt, networkId: { kind, value: networkTransactionID.value } };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function no(reason: string): Read {
  return { ok: false, reason };
}
