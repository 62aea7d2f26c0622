// What other modules may use of recurring charges. recurring.ts implements it.
import type { CardDetails } from '../cards/domain/card.ts';
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { LoggedEvent } from '../platform/events/domain/topic.ts';
import type { Money } from '../money.ts';
import type { PendingCharge, StartedCharge, ApprovedCharge } from './store/charge-fragments.ts';
import type { Bundle } from './consent-bundle.ts';
import type { PayerEmail, Paid, ReceiptRequest } from '../receipts/domain/payer-email.ts';
import type { Mandate, MandateGiven } from './domain/mandate.ts';
import type { Charge, ChargeDecision } from '../retry-rules/domain/may-charge.ts';
import type { ReceiptLanguage } from '../receipts/domain/receipt.ts';
import type {
  BindingRef,
  ChargeOutcome,
  PaymentRef,
  Series,
  SeriesFact,
  Revocation,
} from './domain/series.ts';
import type { SeriesWithSettings, StoredSeries } from './store/series.ts';
import type { RecurringSettings } from './domain/settings.ts';
import type { WrittenReceipt } from './write-receipt.ts';

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
};

export type Evaluation = {
  readonly series: Series;
  /** The token of the card to charge. */
  readonly token: string;
  readonly verdict: ChargeDecision;
  /** The series as it was evaluated, and the shop's settings. */
  readonly stored: StoredSeries;
  readonly settings: RecurringSettings;
};

export type CardNeeded = {
  readonly isCharging: boolean;
  /** Undefined if no further charge is possible. */
  readonly chargeableUntil?: Instant;
  /** The card with which the series started. */
  readonly token?: string;
};

export type Recurring = {
  /** The series of a parent payment is named after that payment. */
  start(tx: Database, consent: Consent & PaymentRef, now: Instant): Promise<void>;
  /** Starts the series of a bound card, or renews its consent. Returns the ID of the series. */
  startForBinding(tx: Database, consent: Consent & BindingRef, now: Instant): Promise<string>;
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
  /** Adds a captured charge of the series that can be a parent. */
  addParent(tx: Database, seriesId: string, member: PaymentRef, now: Instant): Promise<void>;
  /** Undefined if there is no such series. Without `isLocked`, `chargeStarted` may hit a version conflict. */
  evaluate(
    db: Database,
    asked: ChargeAsked,
    now: Instant,
    isLocked: boolean,
  ): Promise<Evaluation | undefined>;
  /** After `evaluate` allowed the charge. Written by the statement that creates the payment. */
  chargeStarted(
    admission: Evaluation,
    payment: PaymentRef & { readonly amount: Money },
    now: Instant,
  ): { readonly written: StartedCharge; readonly charge: PendingCharge };
  /**
   * Written by the statement that changes the payment, if only the approval follows. Undefined if more follows or the
   * charge has ended: then use `recordOutcome`.
   */
  chargeApproved(
    db: Database,
    charge: PaymentRef & { readonly seriesId: string; readonly preloaded?: PendingCharge },
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
  ): Promise<void>;
  /** A decline with the payer present. Networks count these too. */
  recordDecline(
    tx: Database,
    payment: (PaymentRef | BindingRef) & {
      readonly partyId: string;
      readonly shopId: string;
      readonly livemode: boolean;
      readonly amount: Money;
      readonly token: string;
    },
    now: Instant,
  ): Promise<void>;
  /** Like `evaluate`, without a lock. */
  preview(
    db: Database,
    seriesId: string,
    charge: Charge & { invoiceId?: string; amount?: Money },
    now: Instant,
  ): Promise<Evaluation | undefined>;
  /** Whether a created charge can no longer be sent, because the consent or card has ended or the network stopped it. */
  canNeverCharge(db: Database, seriesId: string, now: Instant): Promise<boolean>;
  /** Whether and until when the series needs its card. */
  cardNeeds(db: Database, seriesId: string, now: Instant): Promise<CardNeeded>;
  settings(db: Pick<Database, 'run'>, shop: { partyId: string; shopId: string }): Promise<RecurringSettings>;
  events(db: Database, seriesId: string, after: number, limit: number): Promise<LoggedEvent<SeriesFact>[]>;
  /** The sealed consent bundle. */
  bundle(db: Database, seriesId: string, now: Instant): Promise<Bundle | undefined>;
  /** The receipt in the payer's language, unless another is given. Undefined if there is no such series. */
  receipt(
    db: Database,
    series: string | SeriesWithSettings,
    paid: Paid,
    language?: ReceiptLanguage,
  ): Promise<WrittenReceipt | undefined>;
  /** Queues the receipt as an email, if the payer has an address and this service sends emails. */
  queueReceipt(tx: Database, seriesId: string, receipt: ReceiptRequest, now: Instant): Promise<void>;
  /** The email of a payment's receipt, with its status. */
  payerEmail(db: Database, payment: PaymentRef): Promise<PayerEmail | undefined>;
  verifyRevokeLink(seriesId: string, secret: string): Promise<boolean>;
  /** A repeat changes nothing. */
  revoke(tx: Database, seriesId: string, how: Revocation, now: Instant): Promise<Series | undefined>;
  /** Runs the job of a series. */
  runSeriesJob(db: Database, seriesId: string, now: Instant): Promise<void>;
};

/** What else happens when a consent is revoked, in the same transaction. */
export type ConsentFollowers = {
  /** Revokes the bindings of its card. A customer without another card becomes unready. */
  onConsentRevoked(
    tx: Database,
    series: Pick<Series, 'id' | 'partyId' | 'kind' | 'root'>,
    recurring: Pick<Recurring, 'seriesOfCustomer' | 'revoke'>,
    now: Instant,
  ): Promise<void>;
};
