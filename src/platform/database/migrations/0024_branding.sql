-- How a shop's pages for payers look. Null: as without it.
create table branding (
  party_id    id not null,
  shop_id     id not null,
  -- As #rrggbb.
  accent      text,
  logo        bytea,
  terms_url   text,
  privacy_url text,
  primary key (party_id, shop_id)
);
