-- Until when a bank gets no charges that Mandate begins automatically, because it declines too many.
alter table bank
  add column charges_held_since timestamptz,
  add column charges_held_until timestamptz,
  add column charges_held_because text;
