-- When an operator took a mistaken top-up back. Nothing else of a top-up can change, and none is deleted.
alter table shop_top_up add column reversed_at timestamptz;
drop trigger shop_top_up_is_append_only on shop_top_up;
create trigger shop_top_up_is_append_only
  before delete or update of top_up_id, party_id, shop_id, reference, bank_account_id, amount_minor, currency, created_at on shop_top_up
  for each row execute function forbid_change();
