// What other modules may use of recurring charges.
import type { DeclineClass } from '../acquiring/domain/decline-class.ts';
import type { CardDetails } from '../cards/domain/card.ts';
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { LoggedEvent } from '../platform/events/domain/topic.ts';
import type { Money } from '../money.ts';
import type { PendingCharge, StartedCharge, ApprovedCharge } from './store/charge-changes.ts';
import type { Bundle } from './consent-bundle.ts';
import type { Paid, ReceiptRequest, ReceiptSource } from '../receipts/domain/receipt-email.ts';
import type { Mandate, MandateGiven } from './domain/mandate.ts';
import type { Charge, ChargeDecision } from '../retry-rules/domain/may-charge.ts';
import type {
  BindingRef,
  ChargeOutcome,
  NetworkDecline,
  PaymentRef,
  Series,
  SeriesFact,
  Revocation,
} from './domain/series.ts';
import type { StoredSeries } from './store/series.ts';
import type { RecurringSettings } from './domain/settings.ts';

export type { StoredSeries };
export { importingSeries, type SeriesImport } from './import-series.ts';
export { zoneOfConsent } from './zone-of-consent.ts';

/** The payment with which a payer, present and authenticated, allowed later charges of their card. */
export type Consent = {
  readonly partyId: string;
  readonly shopId: string;
  readonly livemode: boolean;
  readonly card: CardDetails & { readonly token: string };
  /** What the payment's request said about the consent. */
  readonly given?: MandateGiven;
  readonly evidence: Pick<Mandate, 'payer' | 'payment'>;
};

export type ChargeAsked = {
  readonly seriesId: string;
  readonly invoiceId: string;
  readonly invoiceCreatedAt: Instant;
  readonly amount: Money;
  readonly parent?: PaymentRef;
} & Pick<Charge, 'waitsForOthers'>;

export type Evaluation = {
  readonly series: Series;
  /** The token of the card to charge. */
  readonly token: string;
  readonly decision: ChargeDecision;
  /** The series as it was evaluated. */
  readonly stored: StoredSeries;
  /** How many stops of its card had reached the series. */
  readonly cardStops: number;
  /** How the latest attempt to collect the invoice was declined. */
  readonly invoiceDecline?: DeclineClass;
};

/** A charge with the payer present: a payment, or the verification charge of a binding. */
export type DeclinedCharge = (PaymentRef | BindingRef) & {
  readonly partyId: string;
  readonly shopId: string;
  readonly livemode: boolean;
  readonly amount: Money;
  readonly token: string;
};

export type CardNeeded = {
  readonly isCharging: boolean;
  /** Undefined if no further charge is possible, and the payer cannot agree again with this card. */
  readonly neededUntil?: Instant;
  /** The card with which the series started. */
  readonly token?: string;
};

/** With `isLocked`, the series does not change until the transaction ends. */
export type Look = { readonly now: Instant; readonly isLocked: boolean };

/** Charges without the payer present. charging.ts implements it. */
export type Charging = {
  /** Undefined if there is no such series. Without `isLocked`, `chargeStarted` may hit a version conflict. */
  evaluate(db: Database, asked: ChargeAsked, look: Look): Promise<Evaluation | undefined>;
  /** Like `evaluate`, without a lock. */
  preview(
    db: Database,
    seriesId: string,
    charge: Charge & { invoiceId?: string },
    now: Instant,
  ): Promise<Evaluation | undefined>;
  /** Whether a created charge can no longer be sent, because the consent or card has ended or the network stopped it. */
  canNeverCharge(db: Database, seriesId: string, now: Instant): Promise<boolean>;
  /** The next end of a charge wakes the subscription. False if none is in progress any more. */
  awaitEnd(tx: Database, seriesId: string, subscriptionId: string): Promise<boolean>;
  /** After `evaluate` allowed the charge. Written by the statement that creates the payment. */
  chargeStarted(
    evaluation: Evaluation,
    payment: PaymentRef & { readonly amount: Money },
    now: Instant,
  ): { readonly written: StartedCharge; readonly pendingCharge: PendingCharge };
  /**
   * Written by the statement that changes the payment, if only the approval follows. Undefined if more follows or the
   * charge has ended: then use `recordOutcome`.
   */
  chargeApproved(
    db: Database,
    charge: PaymentRef & { readonly seriesId: string; readonly pendingCharge?: PendingCharge },
    approved: { readonly ending: ChargeOutcome; readonly receipt: ReceiptRequest | undefined },
    now: Instant,
  ): Promise<ApprovedCharge | undefined>;
  /** Records the outcome of a charge once. Later outcomes change nothing. */
  recordOutcome(
    tx: Database,
    seriesId: string,
    member: PaymentRef,
    ending: ChargeOutcome,
    now: Instant,
  ): Promise<StoredSeries>;
  /** A charge that was held has taken its money at that time, or has let it go. */
  holdEnded(
    tx: Database,
    seriesId: string,
    member: PaymentRef,
    capturedAt: Instant | undefined,
  ): Promise<StoredSeries | undefined>;
  /** No charge of the series is to collect the invoice any more. A repeat changes nothing. */
  obligationEnded(tx: Database, seriesId: string, invoiceId: string, now: Instant): Promise<void>;
  /** How a charge has ended, and whether no other charge of its invoice may follow. */
  endOfCharge(
    db: Database,
    seriesId: string,
    member: PaymentRef,
  ): Promise<{ readonly outcome: string; readonly stop?: 'charge' }>;
  /** A decline with the payer present. Networks count these too; a final one stops charges of the card as well. */
  recordDecline(tx: Database, charge: DeclinedCharge, answer: NetworkDecline, now: Instant): Promise<void>;
  /** Queues the receipt as an email, if the payer has an address and this service sends emails. */
  queueReceipt(tx: Database, series: StoredSeries, receipt: ReceiptRequest, now: Instant): Promise<void>;
};

/** What starts, renews and ends a series, and the evidence of it. consents.ts implements it. */
export type Consents = {
  /** The series of a parent payment is named after that payment. */
  start(tx: Database, consent: Consent & PaymentRef, now: Instant): Promise<StoredSeries>;
  /** Starts the series of a bound card, or renews its consent. Returns the ID of the series. */
  startForBinding(tx: Database, consent: Consent & BindingRef, now: Instant): Promise<string>;
  /**
   * Renews the consent of a series of either kind with what the payer agreed to. False if a revocation, a stop or another renewal is
   * newer than their agreement, or if the series has lost its card.
   */
  renew(tx: Database, seriesId: string, consent: Consent & BindingRef, now: Instant): Promise<boolean>;
  /** A repeat changes nothing. */
  revoke(tx: Database, seriesId: string, how: Revocation, now: Instant): Promise<Series | undefined>;
  /** Adds a captured charge of the series that can be a parent. */
  addParent(tx: Database, seriesId: string, member: PaymentRef, now: Instant): Promise<StoredSeries>;
  find(db: Database, seriesId: string): Promise<StoredSeries | undefined>;
  /**
   * The series of a customer's card; its ID is stored with the binding, because the card may be deleted. For older bindings
   * it follows from the card, which stays.
   */
  seriesOfCustomer(
    tx: Database,
    bound: {
      named: string | undefined;
      customerId: string;
      partyId: string;
      livemode: boolean;
      token: string;
    },
  ): Promise<string>;
  /** Whether and until when the series needs its card. */
  cardNeeds(db: Database, seriesId: string, look: Look): Promise<CardNeeded>;
  settings(db: Pick<Database, 'run'>, shop: { partyId: string; shopId: string }): Promise<RecurringSettings>;
  events(db: Database, seriesId: string, after: number, limit: number): Promise<LoggedEvent<SeriesFact>[]>;
  /** The sealed consent bundle. */
  bundle(db: Database, seriesId: string, now: Instant): Promise<Bundle | undefined>;
  /** What the receipt of a payment says. Undefined if there is no such series. */
  receiptSource(db: Database, seriesId: string, paid: Paid): Promise<ReceiptSource | undefined>;
};

/** What else happens when a consent is revoked, in the same transaction. */
export type ConsentFollowers = {
  /** Revokes the bindings of its card. A customer without another card becomes unready. */
  onConsentRevoked(
    tx: Database,
    series: Pick<Series, 'id' | 'partyId' | 'root'>,
    consents: Pick<Consents, 'seriesOfCustomer' | 'revoke'>,
    now: Instant,
  ): Promise<void>;
};
