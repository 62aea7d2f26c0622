-- Who can help after a decline, and stops of one charge by a decline with the payer present. Older rows have no class.
alter table series_attempt add column decline_class text;
alter table card_stop add column decline_class text;
alter table card_stop add column is_of_charge boolean not null default false;
-- A decline for a wrong configuration pauses the charges without the payer of its terminal.
alter table terminal add column paused_until timestamptz;
alter table terminal add column paused_because text;
