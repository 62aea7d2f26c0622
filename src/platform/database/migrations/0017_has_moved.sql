-- For a statement that changes several aggregates under their versions: when one of them has moved since it was read, the
-- whole statement fails, so that it never changes the others alone.
create function has_moved() returns integer language plpgsql as $$
begin
  raise exception using errcode = 'MV001', message = 'somebody else has changed it since it was read';
end $$;
