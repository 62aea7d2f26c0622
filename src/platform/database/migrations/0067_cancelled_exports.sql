-- An export can be cancelled, and its file has a second hash.
alter table export add column md5 text constraint export_md5_check check (md5 ~ '^[0-9a-f]{32}$');
alter table export drop constraint export_failure_check;
alter table export add constraint export_failure_check check (failure = any (array['tooManyRows', 'tooWide', 'cancelled']));
