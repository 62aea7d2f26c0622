-- How data is bound to a key and to what it is for; form 2 is what version 0.2.0 cannot read.
alter table data_key add column form int not null default 1;
