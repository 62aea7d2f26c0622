// By what each table could be spread over several machines, and why a few stay whole. docs/operations/citus.sql says the same
// to Citus; tests hold the migrations to it, and run the service on tables that are cut up by it.

/**
 * What each table's primary key begins with: the id of the aggregate the row belongs to, or, for what is unique across
 * aggregates, the owner of the name.
 */
export const distributedBy: Readonly<Record<string, string>> = {
  api_key: 'key_id',
  bank: 'bank_id',
  binding: 'customer_id',
  report_line: 'run_id',
  card: 'card_id',
  card_decline: 'card_key',
  card_stop: 'card_key',
  category: 'category_id',
  customer: 'customer_id',
  data_key: 'purpose',
  deposit: 'deposit_id',
  destination: 'destination_id',
  event: 'aggregate_id',
  external_id: 'party_id',
  idempotency_key: 'owner_id',
  identity: 'identity_id',
  identity_challenge: 'identity_id',
  invoice: 'invoice_id',
  ledger_account: 'account_id',
  ledger_balance: 'account_id',
  ledger_checkpoint: 'account_id',
  ledger_transfer: 'aggregate_id',
  ledger_watermark: 'only_row',
  payer_email: 'invoice_id',
  migration: 'number',
  party: 'party_id',
  payment: 'invoice_id',
  refund: 'invoice_id',
  recurring_settings: 'party_id',
  payout_fee: 'party_id',
  payout_grant: 'grant_id',
  payout_limit: 'party_id',
  payout_terminal: 'party_id',
  payout_turnover: 'wallet_id',
  security_code: 'session_id',
  security_code_key: 'half_hour',
  series: 'series_id',
  series_attempt: 'series_id',
  shop: 'party_id',
  terminal: 'party_id',
  test_clock: 'party_id',
  webhook: 'webhook_id',
  webhook_attempt: 'webhook_id',
  webhook_feed: 'only_row',
  webhook_key: 'webhook_id',
  webhook_message: 'aggregate_id',
  webhook_queue: 'aggregate_id',
  webhook_event_number: 'aggregate_id',
  webhook_event_number_counter: 'only_row',
  wallet: 'wallet_id',
  wallet_transfer: 'transfer_id',
  withdrawal: 'withdrawal_id',
};

/** A handful of rows, or one: every machine has them all. */
export const keptWhole: readonly string[] = [
  'bank',
  'category',
  'data_key',
  'ledger_watermark',
  'migration',
  'security_code_key',
  'webhook_feed',
  'webhook_event_number_counter',
];

/** Unique across aggregates by the way it is made; the constraint only says so, and cannot on several machines. */
export const uniqueOtherwise: Readonly<Record<string, string>> = {
  webhook_event_number_base_key:
    'one row gives the bases, one after another, in webhook_event_number_counter',
};
