-- Spreads the tables over the machines of a Citus, each by the id of its aggregate. For an operator who needs it: run it with
-- psql after `mandate migrate` and before there is traffic. Read docs/operations/several-machines.md first: not everything
-- goes there. A test holds this file to the schema.

-- One row gives these numbers, one after another; what is unique by the way it is made needs no constraint, and over several
-- machines there could be none.
alter table webhook_event_number drop constraint webhook_event_number_base_key;

-- A few rows each: every machine has them all.
select create_reference_table('bank');
select create_reference_table('category');
select create_reference_table('data_key');
select create_reference_table('ledger_watermark');
select create_reference_table('migration');
select create_reference_table('security_code_key');
select create_reference_table('webhook_feed');
select create_reference_table('webhook_event_number_counter');

-- An invoice with its payments, their refunds and receipts, and what happened, was booked and is told of each aggregate.
select create_distributed_table('invoice', 'invoice_id');
select create_distributed_table('payment', 'invoice_id');
select create_distributed_table('refund', 'invoice_id');
select create_distributed_table('payer_email', 'invoice_id');
select create_distributed_table('event', 'aggregate_id');
select create_distributed_table('ledger_transfer', 'aggregate_id');
select create_distributed_table('webhook_message', 'aggregate_id');
select create_distributed_table('webhook_queue', 'aggregate_id');
select create_distributed_table('webhook_event_number', 'aggregate_id');

-- Customers with their bindings, series with their attempts.
select create_distributed_table('customer', 'customer_id');
select create_distributed_table('binding', 'customer_id');
select create_distributed_table('series', 'series_id');
select create_distributed_table('series_attempt', 'series_id');

-- Cards, and what the networks count of them.
select create_distributed_table('card', 'card_id');
select create_distributed_table('security_code', 'session_id');
select create_distributed_table('card_decline', 'card_key', colocate_with => 'none');
select create_distributed_table('card_stop', 'card_key', colocate_with => 'card_decline');

-- Money: the accounts, and who may be paid out.
select create_distributed_table('ledger_account', 'account_id', colocate_with => 'none');
select create_distributed_table('ledger_balance', 'account_id', colocate_with => 'ledger_account');
select create_distributed_table('ledger_checkpoint', 'account_id', colocate_with => 'ledger_account');
select create_distributed_table('identity', 'identity_id');
select create_distributed_table('identity_challenge', 'identity_id');
select create_distributed_table('wallet', 'wallet_id');
select create_distributed_table('payout_turnover', 'wallet_id');
select create_distributed_table('destination', 'destination_id');
select create_distributed_table('withdrawal', 'withdrawal_id');
select create_distributed_table('deposit', 'deposit_id');
select create_distributed_table('wallet_transfer', 'transfer_id');
select create_distributed_table('payout_grant', 'grant_id');

-- Merchants, and what is theirs by name.
select create_distributed_table('party', 'party_id');
select create_distributed_table('shop', 'party_id');
select create_distributed_table('terminal', 'party_id');
select create_distributed_table('payout_terminal', 'party_id');
select create_distributed_table('payout_fee', 'party_id');
select create_distributed_table('payout_limit', 'party_id');
select create_distributed_table('recurring_settings', 'party_id');
select create_distributed_table('test_clock', 'party_id');
select create_distributed_table('external_id', 'party_id');
select create_distributed_table('api_key', 'key_id');
select create_distributed_table('idempotency_key', 'owner_id');
select create_distributed_table('webhook', 'webhook_id');
select create_distributed_table('webhook_key', 'webhook_id');
select create_distributed_table('webhook_attempt', 'webhook_id');

-- Work of a moment.
select create_distributed_table('report_line', 'run_id');
