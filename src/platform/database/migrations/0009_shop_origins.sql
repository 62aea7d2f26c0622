-- The origins of a shop's own pages, separated by spaces: they may show the checkout in a frame and get the payer back.
alter table shop add column origins text not null default '';
