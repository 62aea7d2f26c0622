-- Files of what a search finds. An export is a job; its file is in pieces, and whole once it has a hash.
create table export (
  party_id     id,
  export_id    id,
  slot         int not null check (slot between 1 and 3),
  terms        json not null,
  made_by      text not null,
  created_at   timestamptz not null,
  run          int not null default 0,
  row_count    bigint not null default 0,
  byte_count   bigint not null default 0,
  as_of        timestamptz,
  sha256       text check (sha256 ~ '^[0-9a-f]{64}$'),
  failure      text check (failure in ('tooManyRows', 'tooWide')),
  expires_at   timestamptz check ((expires_at is not null) = (sha256 is not null or failure is not null)),
  wake_at      timestamptz,
  attempts     int not null default 0,
  stuck_at     timestamptz,
  stuck_reason text,
  primary key (party_id, export_id)
);
create index export_due on export (wake_at) where wake_at is not null;
create index export_stuck on export (stuck_at) where stuck_at is not null;
-- So many of a party are made at a time.
create unique index export_slot on export (party_id, slot) where expires_at is null;

-- Compressed and encrypted, by the run that wrote it.
create table export_piece (
  export_id   id,
  run         int,
  number      int,
  key_version int not null,
  content     bytea not null,
  primary key (export_id, run, number)
);
alter table export_piece alter column content set storage external;
