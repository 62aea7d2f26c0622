// What the checks look at: the database, the bank's own book, what clients of the API were told, and what receivers of webhooks
// were sent. They read all of it from outside, so that nothing the service believes about itself is taken on trust.

/** Something that must never be. */
export type Finding = {
  /** The check that found it. */
  readonly check: string;
  /** The object it is wrong with. */
  readonly about: string;
  readonly problem: string;
};

/** The same object is passed to each call of one run: what was looked at before is remembered by it. */
export type CheckWorld = {
  /** One statement in the service's database; 64-bit integers come as bigint or as text. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a row is what the statement selects
  readonly query: (text: string, values?: unknown[]) => Promise<Record<string, any>[]>;
  /** All of it, in order. */
  readonly bankBook: () => Promise<readonly BankEntry[]>;
  /** What came to the bank, where somebody stands beside it; grows. */
  readonly asked?: readonly Asked[];
  /** In the order in which the answers came; grows. */
  readonly acknowledged: readonly Acknowledged[];
  /** In the order in which they were accepted, for each webhook; grows. */
  readonly received: readonly Delivery[];
  /** What the mail server has taken, where there is one; grows. */
  readonly mails?: readonly Mail[];
};

/** A line of the bank's book, as the bank protocol gives it. */
export type BankEntry = {
  readonly sequence: number;
  readonly operationId: string;
  readonly kind: 'authorise' | 'capture' | 'reverse' | 'refund' | 'payout';
  readonly originalOperationId?: string;
  readonly amount: number;
  readonly currency: string;
  /** 1: from the payer to the merchant; -1: to the payer; 0: only held or let go. */
  readonly sign: 1 | 0 | -1;
  readonly at: string;
  readonly cardMask: string;
};

/** Something a bank was asked to do. */
export type Asked = {
  readonly operationId: string;
  /** Which transactions had ended before the first byte of the message left, as the database says it. */
  readonly snapshot: string;
};

/** An answer a client of the API has had whole. */
export type Acknowledged = {
  readonly method: string;
  /** Without a query. */
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
  readonly at: string;
  /** Where it was asked under an Idempotency-Key: what is the same each time it is asked, and when that was first. */
  readonly repeatable?: { readonly request: string; readonly firstAskedAt: string };
};

/** A delivery a receiver has answered with 2xx. */
export type Delivery = {
  readonly webhookID: string;
  /** Of the notice: in its body for invoices and customers, with the same meaning for wallets. */
  readonly eventID: number | string;
  readonly body: unknown;
};

/** A letter that was handed in. */
export type Mail = {
  /** It has the names of the payment in it. */
  readonly id: string;
  readonly to: string;
  readonly text: string;
};
