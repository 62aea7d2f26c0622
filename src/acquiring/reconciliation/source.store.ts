// What a module expects in a bank's transaction report: one row per operation it sent to a bank, or could have sent.
// Each such module has one (src/payments/store/reconciliation.ts); src/app/sources/reconciliation-sources.ts lists them.

export type ReconciliationSource = {
  /** The table of the aggregates, and the first column of its primary key. */
  readonly table: string;
  readonly key: string;
  /**
   * A select with `expectedColumns` over the aggregates with IDs from `:first` to `:last`. It runs once per page of a long
   * comparison, so it must use primary keys.
   */
  readonly operations: string;
};

export const expectedColumns = [
  'aggregate_id',
  /** Starts with the aggregate ID and a dot. */
  'operation_id',
  /** Null until the operation is sent to a bank. */
  'bank_id',
  /** Kind and sign as in the bank's transaction report (docs/bank-protocol.md). */
  'kind',
  'sign',
  'amount_minor',
  'currency',
  /** The ID of the original operation, or null. */
  'original_id',
  /** Null if unknown. */
  'card_mask',
  /** Whether the report must have the operation: see `ExpectedEntry`. */
  'certainty',
  /** For `undone` the reversal, and for `undoes` the original; else null. */
  'counterpart_id',
  /** The object for the operator, such as payment, INVOICE.1, captured. */
  'object',
  'object_id',
  'status',
  'party_id',
  /** When the operation was first sent; null if unknown. */
  'asked_at',
  /** When its outcome was known; null if unknown. */
  'known_at',
] as const;
