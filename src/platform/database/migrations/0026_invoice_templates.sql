-- An invoice template: what its invoices are for, what they cost and how long they can be paid. Its access token never
-- expires, and ends with deleted_at.
create table invoice_template (
  invoice_template_id id primary key,
  party_id            id not null,
  shop_id             id not null,
  name                text,
  description         text,
  lifetime            json not null,
  details             json not null,
  metadata            json,
  external_id         text,
  created_at          timestamptz not null,
  deleted_at          timestamptz
);

-- The template an invoice was made from. Null: it was made without one.
alter table invoice add column invoice_template_id id;
