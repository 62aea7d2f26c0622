-- Emails to payers about subscriptions. A row is written in the transaction of its cause, so no cause has two: their ID is its version and kind.
create table subscription_email (
  subscription_id id,
  email_id        text check (length(email_id) <= 40),
  party_id        id not null,
  status          text not null check (status in ('waiting', 'kept', 'sent', 'refused')),
  created_at      timestamptz not null,
  recipient       text not null,
  content         json not null,
  ended_at        timestamptz check ((status = 'waiting') = (ended_at is null)),
  subject         text,
  text_body       text check (status = 'waiting' or text_body is not null),
  html_body       text,
  refusal         text,
  wake_at         timestamptz,
  attempts        int not null default 0,
  stuck_at        timestamptz,
  stuck_reason    text,
  primary key (subscription_id, email_id)
);
create index subscription_email_due on subscription_email (wake_at) where wake_at is not null;
create index subscription_email_stuck on subscription_email (stuck_at) where stuck_at is not null;
