-- Links to the console, each with the session it opens. Only hashes of the secrets are stored.
create table console_session (
  session_id text primary key,
  party_id text,
  is_operator boolean not null,
  livemode boolean not null,
  made_by text not null,
  created_at timestamptz not null,
  link_hash bytea not null,
  session_hash bytea,
  opened_at timestamptz,
  seen_at timestamptz,
  ended_at timestamptz,
  constraint console_session_viewer check (is_operator or party_id is not null),
  constraint console_session_opened check (
    (session_hash is null) = (opened_at is null) and (session_hash is null) = (seen_at is null))
);
