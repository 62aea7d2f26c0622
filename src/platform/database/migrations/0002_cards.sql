-- The vault: the only place with card numbers, sealed; and security codes, which are here for minutes. See
-- docs/decisions/0011-card-vault.md.

create table card (
  card_id                id primary key,
  party_id               id not null,
  session_id             id not null,
  -- The one object whose access token made it; null where an API key did.
  made_for_kind          text check (made_for_kind in ('invoice', 'customer')),
  made_for_id            id,
  -- By real time: an hour later the sweep takes what nobody has kept.
  stored_at              timestamptz not null,
  -- On the party's own clock: until then its token is accepted.
  valid_until            timestamptz not null,
  -- A payment or a binding refers to it.
  is_kept                boolean not null default false,
  payment_system         text not null,
  mask                   text not null check (mask ~ '^\d{6}\*{2,9}\d{4}$'),
  client_info            json not null,
  external_id            text,
  -- Number, expiry and holder.
  sealed                 bytea not null,
  seal_generation        int not null,
  -- Keyed hash of the number.
  fingerprint            bytea not null,
  fingerprint_generation int not null,
  -- Keyed hash of number and expiry, always under the first key: what repeated requests are compared by.
  identity_hash          bytea not null,
  check ((made_for_kind is null) = (made_for_id is null))
);
create index card_unkept on card (stored_at) where not is_kept;
create index card_by_generation on card (seal_generation, card_id);

-- Unlogged: neither in the write-ahead log nor in a base backup, a replica or what is left after a crash. Vacuumed as soon
-- as something was deleted, so that the dead do not lie around.

create unlogged table security_code_key (
  -- Since 1970.
  half_hour int primary key,
  wrapped   bytea not null
) with (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0);

create unlogged table security_code (
  session_id id primary key,
  card_id    id not null,
  half_hour  int not null,
  sealed     bytea not null,
  expires_at timestamptz not null
) with (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0);
create index security_code_expiry on security_code (expires_at);
