-- What a charge writes to indexes. All rows of a series are read together, so the key of its attempts serves every statement, and the end
-- of an attempt changes no index.
drop index series_attempt_age;
drop index series_attempt_pending;

-- A charge writes its subscription four times. A search for the word decides for nearly every row without reading its JSON.
drop index subscription_parked;
create index subscription_parked on subscription (subscription_id)
where strpos(state::text, '"parkedFor"') > 0 and (state->>'parkedFor') is not null;
drop index subscription_misconfigured;
create index subscription_misconfigured on subscription (subscription_id)
where strpos(state::text, '"configuration"') > 0 and (state->'open'->0->>'declineClass') = 'configuration';

-- Space for the next version of a row on its page: it then needs no entries of indexes, or a shorter record in the log.
alter table invoice set (fillfactor = 65);
alter table series_attempt set (fillfactor = 60);
alter table subscription set (fillfactor = 60);
alter table subscription_period set (fillfactor = 60);
