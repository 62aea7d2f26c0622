-- One outbox for all emails to payers. About a subscription, the key of an email is the subscription and its cause, in the columns that
-- a receipt has for its invoice and payment: older nodes know no other names.
alter table payer_email
  add column about text not null default 'receipt',
  alter column paid_at drop not null,
  alter column amount_minor drop not null,
  alter column currency drop not null,
  alter column reference drop not null,
  -- Not valid, because all older rows are receipts and need not be read.
  add constraint payer_email_about_check check (
    about = 'receipt' and num_nulls(paid_at, amount_minor, currency, reference) = 0
    or about = 'subscription' and content is not null
  ) not valid;

insert into payer_email (invoice_id, payment_id, party_id, about, status, created_at, recipient, content, ended_at, subject, text_body,
  html_body, refusal, wake_at, attempts, stuck_at, stuck_reason)
select subscription_id, email_id, party_id, 'subscription', status, created_at, recipient, content, ended_at, subject, text_body,
  html_body, refusal, wake_at, attempts, stuck_at, stuck_reason
from subscription_email;

drop table subscription_email;
