-- Reconciliation asks of each hold that was cancelled whether its bank has ended it before.
create index exchange_note_hold_ended on exchange_note (operation_id) where what = 'holdEnded';
