-- Merchants are told by webhook what happens to series: stops, withdrawals, what should be known beforehand.

alter table webhook
  drop constraint webhook_topic_check,
  add constraint webhook_topic_check check (topic in
    ('InvoicesTopic', 'CustomersTopic', 'RecurringTopic', 'WithdrawalsTopic', 'DestinationsTopic'));
