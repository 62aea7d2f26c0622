-- What the text of an email says, apart from its payment. Null: an older node stored it, and its series has that.
alter table payer_email add column content json;
