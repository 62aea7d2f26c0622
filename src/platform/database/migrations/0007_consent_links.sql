-- A consent link: new terms for a series, which the payer accepts on a page. Whether they have follows from the binding with which
-- they confirm it, so no job runs for a link.
create table consent_link (
  consent_link_id id primary key,
  party_id        id not null,
  shop_id         id not null,
  series_id       id not null,
  terms           json not null,
  language        text,
  redirect_url    text,
  external_id     text,
  created_at      timestamptz not null,
  expires_at      timestamptz not null,
  customer_id     id,
  binding_id      id,
  cancelled_at    timestamptz,
  check ((customer_id is null) = (binding_id is null)),
  check (expires_at > created_at)
);
