-- Ends a statement that would take a wallet beyond a limit, so that nothing of it is written. What it has counted goes along, by
-- which is said what limit it was.
create function refuse_turnover(counted json)
  returns text
  language plpgsql
as $$
begin
  raise exception using errcode = 'PL001', message = 'a payout passes a limit of its wallet', detail = counted::text;
end $$;
