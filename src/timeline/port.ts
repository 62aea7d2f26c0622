// What a timeline needs of each module: its rows about one object. app/ puts the readers together, so that no table is read from here.
import type { Exchange } from '../acquiring/exchange-log/store/exchange-rows.ts';
import type { Instant } from '../clock.ts';
import type { Invoice } from '../invoices/domain/invoice.ts';
import type { Currency } from '../money.ts';
import type { TradingRefusal } from '../merchants/domain/party.ts';
import type { Payment, PaymentFact } from '../payments/domain/payment.ts';
import type { Database } from '../platform/database/database.ts';
import type { PayerEmail } from '../receipts/domain/payer-email.ts';
import type { Evaluation } from '../recurring/port.ts';
import type { Outcome } from '../refusal.ts';

type PaymentName = { readonly invoiceId: string; readonly paymentId: string };

/** An event of the log, by its time and its number there. */
export type NumberedEvent = { readonly at: Instant; readonly sequence: number };
export type NumberedFact<Fact> = NumberedEvent & { readonly fact: Fact };
export type PaymentFacts = readonly NumberedFact<PaymentFact>[];

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
  readonly phase: string;
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
};
