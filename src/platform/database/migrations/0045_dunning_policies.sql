-- When the shops of a party retry what failed. A version is written once: periods that began to fail with it keep it.
create table dunning_policy (
  party_id   id,
  shop_id    id,
  name       text check (name ~ '^[a-z][a-z0-9-]{0,39}$'),
  version    int check (version >= 1),
  policy     json not null,
  created_at timestamptz not null,
  primary key (party_id, shop_id, name, version)
);
