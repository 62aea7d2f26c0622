// What a timeline needs of each module: its rows about one object. app/ puts the readers together, so that no table is read from here.
import type { Exchange } from '../acquiring/exchange-log/store/exchange-rows.ts';
import type { Instant } from '../clock.ts';
import type { Invoice } from '../invoices/domain/invoice.ts';
import type { Currency } from '../money.ts';
import type { Binding, BindingFact } from '../customers/domain/binding.ts';
import type { CustomerFact } from '../customers/domain/customer.ts';
import type { TradingRefusal } from '../merchants/domain/party.ts';
import type { Payment, PaymentFact } from '../payments/domain/payment.ts';
import type { Withdrawal, WithdrawalEnd, WithdrawalReturned } from '../payouts/domain/withdrawal.ts';
import type { Database } from '../platform/database/database.ts';
import type { NumberedFact } from '../platform/events/read-log.ts';
import type { PayerEmail } from '../emails/domain/payer-email.ts';
import type { SeriesFact } from '../recurring/domain/series.ts';
import type { Evaluation } from '../recurring/port.ts';
import type { Outcome } from '../refusal.ts';

type PaymentName = { readonly invoiceId: string; readonly paymentId: string };

/** An event of the log, by its time and its number there. */
export type NumberedEvent = Omit<NumberedFact<unknown>, 'fact'>;
export type PaymentFacts = readonly NumberedFact<PaymentFact>[];
export type BindingFacts = readonly NumberedFact<
  BindingFact | Extract<CustomerFact, { readonly bindingId: string }>
>[];
export type WithdrawalFacts = readonly NumberedFact<
  WithdrawalEnd | WithdrawalReturned | { readonly type: 'withdrawal_started' }
>[];
export type SeriesFacts = readonly NumberedFact<SeriesFact>[];

/** What the retry rules decided about a charge of a series, and what they say now. */
export type ChargeOfSeries = {
  readonly seriesId: string;
  readonly decided:
    | {
        readonly isRetry: boolean;
        readonly packs: readonly string[];
        readonly outcome: string;
        readonly network: string | null;
        readonly code: string | null;
        readonly advice: string | null;
        readonly effect: string | null;
        readonly rule: string | null;
        readonly pack: string | null;
        readonly endedAt: Instant | null;
      }
    | undefined;
  readonly found: Evaluation;
};

export type Transfer = {
  readonly operation_id: string;
  readonly step: string;
  readonly phase: 'single' | 'pending' | 'post' | 'void';
  readonly debit: string;
  readonly credit: string;
  readonly minor: bigint;
  readonly currency: Currency;
  readonly happened_at: Instant;
};

export type Delivery = {
  readonly webhook_id: string;
  readonly position: bigint;
  readonly attempt: number;
  readonly event_type: string;
  readonly attempted_at: Instant;
  readonly duration_ms: number;
  readonly status: number | null;
  readonly failure: string | null;
};

/** A queue with something to deliver. */
export type WaitingQueue = {
  readonly webhook_id: string;
  readonly next_position: bigint;
  readonly last_position: bigint;
  readonly waiting_since: Instant | null;
  readonly attempts: number;
  readonly last_failure: string | null;
  readonly wake_at: Instant | null;
  readonly stuck_at: Instant | null;
};

export type Deliveries = {
  readonly tried: readonly Delivery[];
  readonly waiting: readonly WaitingQueue[];
  /** Earlier attempts are left out. */
  readonly isMore: boolean;
};

/** What every object has, by the aggregate in whose log it is. */
type CommonSources = {
  /** Those of operations with an ID that begins with `prefix`. */
  exchanges(db: Database, aggregateId: string, prefix: string): Promise<readonly Exchange[]>;
  /** Those of an operation and of the operations inside it. */
  transfers(db: Database, aggregateId: string, operationId: string): Promise<readonly Transfer[]>;
  /** Those of these events. */
  deliveries(db: Database, aggregateId: string, events: readonly NumberedEvent[]): Promise<Deliveries>;
  /** Why the shop takes no payments. */
  refusal(shop: { readonly partyId: string; readonly shopId: string }): Promise<TradingRefusal | undefined>;
};

export type TimelineSources = CommonSources & {
  payment(
    db: Database,
    name: PaymentName & { readonly partyId: string },
  ): Promise<Outcome<{ readonly payment: Payment }, 'invoiceNotFound' | 'paymentNotFound'>>;
  invoice(db: Database, invoiceId: string): Promise<Invoice | undefined>;
  facts(db: Database, payment: Payment): Promise<PaymentFacts>;
  /** Undefined if the payment belongs to no series. */
  charge(
    db: Database,
    payment: Payment,
    invoiceCreatedAt: Instant,
    now: Instant,
  ): Promise<ChargeOfSeries | undefined>;
  email(db: Database, name: PaymentName): Promise<PayerEmail | undefined>;

  /** Undefined if the party has no such withdrawal. */
  withdrawal(db: Database, partyId: string, withdrawalId: string): Promise<Withdrawal | undefined>;
  withdrawalFacts(db: Database, withdrawal: Withdrawal): Promise<WithdrawalFacts>;
  /** Undefined if it has ended. */
  waitOfWithdrawal(db: Database, withdrawalId: string): Promise<Wait | undefined>;

  binding(
    db: Database,
    name: BindingName,
  ): Promise<Outcome<BoundCard, 'customerNotFound' | 'bindingNotFound'>>;
  bindingFacts(db: Database, binding: Binding): Promise<BindingFacts>;

  /** The ID of the series that the payment began or belongs to. */
  seriesOfPayment(
    db: Database,
    name: PaymentName & { readonly partyId: string },
  ): Promise<Outcome<string, 'invoiceNotFound' | 'paymentNotFound' | 'recurringNotFound'>>;
  /** Of the active card, or else of the card that was saved last. */
  seriesOfCustomer(
    db: Database,
    name: { readonly partyId: string; readonly customerId: string },
  ): Promise<Outcome<string, 'customerNotFound' | 'recurringNotFound'>>;
  series(db: Database, seriesId: string, now: Instant): Promise<SeriesNow | undefined>;
  /** Of the charges of a series. */
  charges(db: Database, payments: readonly PaymentName[]): Promise<ChargesOfSeries>;
};

type BindingName = { readonly partyId: string; readonly customerId: string; readonly bindingId: string };
export type BoundCard = { readonly binding: Binding; readonly seriesId?: string };

/** What a job waits for. */
export type Wait = {
  readonly attempts: number;
  readonly wake_at: Instant | null;
  readonly stuck_at: Instant | null;
};

export type SeriesNow = {
  readonly found: Evaluation;
  readonly facts: SeriesFacts;
  /** Earlier facts are left out. */
  readonly isMore: boolean;
};

export type ChargesOfSeries = {
  readonly exchanges: readonly Exchange[];
  readonly emails: readonly PayerEmail[];
};
