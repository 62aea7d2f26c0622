// What a room expects in a bank's book: one row for each operation it has asked a bank for, or could have. A room that asks
// banks for anything has one of these in a file of its own (src/payments/store/reconciliation.ts), and src/app/reconciliation-sources.ts lists it.

/**
 * `operations` is a select over the aggregates whose ids lie between `:first` and `:last`, with these columns in any order:
 *
 *   aggregate_id, operation_id   the second begins with the first and a dot
 *   bank_id                      the bank that was asked; null while none was
 *   kind, sign                   as in the bank's book (docs/bank-protocol.md)
 *   amount_minor, currency       what was asked for
 *   original_id                  the operation it follows on, or null
 *   card_mask                    null where it is not known
 *   certainty                    done     it must be in the book
 *                                open     nobody knows yet: it may be
 *                                never    it failed, or was not asked for: it must not be
 *                                undone   taken back: it may be, if what took it back is there too
 *                                undoes   took back what is `undone`: it must be there when that is, and not without it
 *                                may      settled elsewhere for good: it may be, or not
 *   counterpart_id               of `undone` what undoes it, and the other way round; else null
 *   object, object_id, status    what it belongs to, for people: payment, INVOICE.1, captured
 *   party_id                     whose it is
 *   asked_at, known_at           the bank did it between the two, if it did: first asked, outcome learned; null if unknown
 *
 * It runs for every page of a long walk: look things up by their primary keys.
 */
export type ReconciliationSource = {
  /** The table with the aggregates, and the first column of its primary key. */
  readonly table: string;
  readonly key: string;
  readonly operations: string;
};

export const expectedColumns = [
  'aggregate_id',
  'operation_id',
  'bank_id',
  'kind',
  'sign',
  'amount_minor',
  'currency',
  'original_id',
  'card_mask',
  'certainty',
  'counterpart_id',
  'object',
  'object_id',
  'status',
  'party_id',
  'asked_at',
  'known_at',
] as const;
