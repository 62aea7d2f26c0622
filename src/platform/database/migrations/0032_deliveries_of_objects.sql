-- The attempts to deliver one object's events, for its timeline. The IDs of objects begin with their time, so new rows are together.
create index webhook_attempt_of_object on webhook_attempt (webhook_id, aggregate_id, attempted_at);
