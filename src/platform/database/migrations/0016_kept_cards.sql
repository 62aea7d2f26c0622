-- A kept card says what it is kept for, and falls due, so that it is deleted when nothing of that needs it any more. Cards
-- that were kept before say nothing, and stay. The series of a bound card is named beside it: it is asked for by its name
-- also when the card is gone.

alter table card add column kept_for json;
alter table card add column wake_at timestamptz;
alter table card add column attempts int not null default 0;
alter table card add column stuck_at timestamptz;
alter table card add column stuck_reason text;
create index card_due on card (wake_at) where wake_at is not null;
create index card_stuck on card (stuck_at) where stuck_at is not null;

alter table binding add column series_id id;
