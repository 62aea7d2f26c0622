// What the other rooms may ask about charges without the payer; recurring.ts answers.
import type { CardDetails } from '../cards/domain/card.ts';
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { LoggedEvent } from '../platform/events/domain/topic.ts';
import type { Money } from '../money.ts';
import type { PendingCharge, StartedCharge, ApprovedCharge } from './store/charge-fragments.ts';
import type { Bundle } from './consent-bundle.ts';
import type { PayerEmail, Paid, ReceiptOwed } from '../receipts/domain/payer-email.ts';
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

/** The payment with which a payer, present and authenticated, let his card be charged again. */
export type Consent = {
  readonly partyId: string;
  readonly shopId: string;
  readonly livemode: boolean;
  readonly card: CardDetails & { readonly token: string };
  /** What the payment brought with it of what the payer agreed to. */
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
  /** Of the card to be charged. */
  readonly token: string;
  readonly verdict: ChargeDecision;
  /** As it was when that was said, and what its shop wants. */
  readonly stored: StoredSeries;
  readonly settings: RecurringSettings;
};

export type CardNeeded = {
  readonly isCharging: boolean;
  /** Undefined when no charge comes any more. */
  readonly chargeableUntil?: Instant;
  /** The card it began with. */
  readonly token?: string;
};

export type Recurring = {
  /** The series of a parent payment has its name. */
  start(tx: Database, consent: Consent & PaymentRef, now: Instant): Promise<void>;
  /** A card was bound to a customer: its series begins, or goes on with a consent that is new. Answers its name. */
  startForBinding(tx: Database, consent: Consent & BindingRef, now: Instant): Promise<string>;
  /**
   * The series of a customer and of a card that was bound to him: as it is named beside the binding, for the card may be gone; of
   * one that was bound before that was written, by its card, which stays.
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
  /** A charge of the series that was captured and can be a parent in turn. */
  addParent(tx: Database, seriesId: string, member: PaymentRef, now: Instant): Promise<void>;
  /**
   * Undefined when there is none. `isLocked`: the series is held until the transaction ends; otherwise it may move, and then
   * what `started` answers cannot be written.
   */
  evaluate(
    db: Database,
    asked: ChargeAsked,
    now: Instant,
    isLocked: boolean,
  ): Promise<Evaluation | undefined>;
  /** After `admit` said yes: what is written by the statement that makes the payment. */
  chargeStarted(
    admission: Evaluation,
    payment: PaymentRef & { readonly amount: Money },
    now: Instant,
  ): { readonly written: StartedCharge; readonly charge: PendingCharge };
  /**
   * What is written by the statement that changes the payment, where the bank has approved it and nothing else follows.
   * Undefined when more does, or when the charge has ended already: then `recordOutcome` is for it. `preloaded`: by whoever has just
   * begun it.
   */
  chargeApproved(
    db: Database,
    charge: PaymentRef & { readonly seriesId: string; readonly preloaded?: PendingCharge },
    approved: { readonly ending: ChargeOutcome; readonly receipt: ReceiptOwed | undefined },
    now: Instant,
  ): Promise<ApprovedCharge | undefined>;
  /** What the bank said. Once: a charge that has ended does not end again. */
  recordOutcome(
    tx: Database,
    seriesId: string,
    member: PaymentRef,
    ending: ChargeOutcome,
    now: Instant,
  ): Promise<void>;
  /** A decline while the payer was present: the networks count those too. */
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
  /** The same answer as `admit`, without holding anything. */
  preview(
    db: Database,
    seriesId: string,
    charge: Charge & { invoiceId?: string; amount?: Money },
    now: Instant,
  ): Promise<Evaluation | undefined>;
  /** Whether it is too late to send a charge that was made before: since then the consent, the card or the network's patience has ended. */
  canNeverCharge(db: Database, seriesId: string, now: Instant): Promise<boolean>;
  /** What of the series needs its card: a charge that is under way, and the charges that may still come, until then. */
  cardNeeds(db: Database, seriesId: string, now: Instant): Promise<CardNeeded>;
  /** How the shop wants it. */
  settings(db: Pick<Database, 'run'>, shop: { partyId: string; shopId: string }): Promise<RecurringSettings>;
  events(db: Database, seriesId: string, after: number, limit: number): Promise<LoggedEvent<SeriesFact>[]>;
  /** What there is to show for the consent, sealed. */
  bundle(db: Database, seriesId: string, now: Instant): Promise<Bundle | undefined>;
  /**
   * Of a series by its name, or as whoever asks knows it already. Undefined when there is none. In the payer's language, unless
   * another is asked for.
   */
  receipt(
    db: Database,
    series: string | SeriesWithSettings,
    paid: Paid,
    language?: ReceiptLanguage,
  ): Promise<WrittenReceipt | undefined>;
  /** The payer is to get his receipt by mail, where he has an address and letters are written here. */
  queueReceipt(tx: Database, seriesId: string, receipt: ReceiptOwed, now: Instant): Promise<void>;
  /** What became of it. */
  payerEmail(db: Database, payment: PaymentRef): Promise<PayerEmail | undefined>;
  verifyRevokeLink(seriesId: string, secret: string): Promise<boolean>;
  /** Harmless when it was withdrawn before. */
  revoke(tx: Database, seriesId: string, how: Revocation, now: Instant): Promise<Series | undefined>;
  /** The engine's step of a series. */
  runSeriesJob(db: Database, seriesId: string, now: Instant): Promise<void>;
};

/** What else follows when a consent is revoked, in the same transaction. */
export type ConsentFollowers = {
  /** Its card is bound no more, and a customer without another one is unready. */
  onConsentRevoked(
    tx: Database,
    series: Pick<Series, 'id' | 'partyId' | 'kind' | 'root'>,
    recurring: Pick<Recurring, 'seriesOfCustomer' | 'revoke'>,
    now: Instant,
  ): Promise<void>;
};
