-- No charge of the series is to collect the invoice of this attempt any more, and its failure does not count for other invoices.
alter table series_attempt add column obligation_ended_at timestamptz;
