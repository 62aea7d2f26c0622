-- Payers who are present: what their bank is asked about 3-D Secure.

alter table shop add column three_d_secure text not null default 'whenTheBankSays'
  constraint shop_three_d_secure_check check (three_d_secure in ('always', 'whenTheBankSays', 'never'));
