// Banks and terminals in SQL.
import { statement } from '../../platform/database/statement.ts';

export const readTerminals = statement({
  name: 'read_terminals',
  parameters: { party_id: 'text', shop_id: 'text' },
  row: { terminal_id: 'text', bank_id: 'text', merchant_id: 'text', descriptor: 'text', is_retired: 'bool' },
  text: `select terminal_id, bank_id, merchant_id, descriptor, retired_at is not null as is_retired from terminal
         where party_id = :party_id and shop_id = :shop_id order by priority, terminal_id`,
});

/** Those for payouts have no shop. */
export const listTerminals = statement({
  name: 'list_terminals',
  parameters: { party_id: 'text' },
  row: {
    shop_id: 'text?',
    terminal_id: 'text',
    bank_id: 'text',
    merchant_id: 'text',
    descriptor: 'text',
    priority: 'int4',
    retired_at: 'timestamptz?',
  },
  text: `select shop_id, terminal_id, bank_id, merchant_id, descriptor, priority, retired_at
         from (
           select party_id, shop_id, terminal_id, bank_id, merchant_id, descriptor, priority, retired_at from terminal
           union all
           select party_id, null, terminal_id, bank_id, merchant_id, descriptor, priority, retired_at from payout_terminal
         ) as terminal
         where party_id = :party_id order by shop_id nulls last, retired_at is not null, priority, terminal_id`,
});

/** No row when it is there with another bank: payments that were made through it are asked about at that one. */
export const upsertTerminal = statement({
  name: 'upsert_terminal',
  parameters: {
    party_id: 'text',
    shop_id: 'text',
    terminal_id: 'text',
    bank_id: 'text',
    merchant_id: 'text',
    descriptor: 'text',
    priority: 'int4',
    created_at: 'timestamptz',
  },
  row: { terminal_id: 'text' },
  text: `insert into terminal
           (party_id, shop_id, terminal_id, bank_id, merchant_id, descriptor, priority, created_at)
         values
           (:party_id, :shop_id, :terminal_id, :bank_id, :merchant_id, :descriptor, :priority, :created_at)
         on conflict (party_id, shop_id, terminal_id) do update
           set merchant_id = excluded.merchant_id, descriptor = excluded.descriptor,
               priority = excluded.priority, retired_at = null
           where terminal.bank_id = excluded.bank_id
         returning terminal_id`,
});

/** Of the terminals a sandbox makes for itself, which have the two priorities from `:first` on. */
export const putTerminalsFirst = statement({
  name: 'put_terminals_first',
  parameters: { party_id: 'text', bank_id: 'text', first: 'int4' },
  row: {},
  text: `update terminal set priority = case when bank_id = :bank_id then :first else :first + 1 end
         where party_id = :party_id and priority in (:first, :first + 1)`,
});

export const retireTerminal = statement({
  name: 'retire_terminal',
  parameters: { party_id: 'text', shop_id: 'text', terminal_id: 'text', now: 'timestamptz' },
  row: { terminal_id: 'text' },
  text: `update terminal set retired_at = coalesce(retired_at, :now)
         where party_id = :party_id and shop_id = :shop_id and terminal_id = :terminal_id
         returning terminal_id`,
});

export const readBank = statement({
  name: 'read_bank',
  parameters: { bank_id: 'text' },
  row: { url: 'text', secret_ciphertext: 'bytea', key_version: 'int4' },
  text: 'select url, secret_ciphertext, key_version from bank where bank_id = :bank_id',
});

export const listBanks = statement({
  name: 'list_banks',
  parameters: {},
  row: { bank_id: 'text', url: 'text', created_at: 'timestamptz', terminals: 'int8' },
  text: `select bank_id, url, created_at,
                (select count(*) from terminal where terminal.bank_id = bank.bank_id and retired_at is null)
                + (select count(*) from payout_terminal as paying
                   where paying.bank_id = bank.bank_id and retired_at is null) as terminals
         from bank order by bank_id`,
});

export const upsertBank = statement({
  name: 'upsert_bank',
  parameters: {
    bank_id: 'text',
    url: 'text',
    secret_ciphertext: 'bytea',
    key_version: 'int4',
    created_at: 'timestamptz',
  },
  row: {},
  text: `insert into bank (bank_id, url, secret_ciphertext, key_version, created_at)
         values (:bank_id, :url, :secret_ciphertext, :key_version, :created_at)
         on conflict (bank_id) do update set url = excluded.url, secret_ciphertext = excluded.secret_ciphertext,
                                             key_version = excluded.key_version`,
});

/** A retired terminal counts too: what was paid through it may have to be given back through it. */
export const deleteBank = statement({
  name: 'delete_bank',
  parameters: { bank_id: 'text' },
  row: { is_deleted: 'bool', terminals: 'int8' },
  text: `with kept as (
           select (select count(*) from terminal where bank_id = :bank_id)
             + (select count(*) from payout_terminal where bank_id = :bank_id) as terminals
         ), gone as (
           delete from bank where bank_id = :bank_id and (select terminals from kept) = 0 returning bank_id
         )
         select exists (select from gone) as is_deleted, terminals from kept`,
});

export const readPayoutTerminals = statement({
  name: 'read_payout_terminals',
  parameters: { party_id: 'text' },
  row: { terminal_id: 'text', bank_id: 'text', merchant_id: 'text', descriptor: 'text', is_retired: 'bool' },
  text: `select terminal_id, bank_id, merchant_id, descriptor, retired_at is not null as is_retired from payout_terminal
         where party_id = :party_id order by priority, terminal_id`,
});

/** Of the one a sandbox makes for itself, as with those of its shops. */
export const putPayoutTerminalFirst = statement({
  name: 'put_payout_terminal_first',
  parameters: { party_id: 'text', bank_id: 'text', first: 'int4' },
  row: {},
  text: `update payout_terminal set priority = case when bank_id = :bank_id then :first else :first + 1 end
         where party_id = :party_id and priority in (:first, :first + 1)`,
});

export const retirePayoutTerminal = statement({
  name: 'retire_payout_terminal',
  parameters: { party_id: 'text', terminal_id: 'text', now: 'timestamptz' },
  row: { terminal_id: 'text' },
  text: `update payout_terminal set retired_at = coalesce(retired_at, :now)
         where party_id = :party_id and terminal_id = :terminal_id
         returning terminal_id`,
});

export const upsertPayoutTerminal = statement({
  name: 'upsert_payout_terminal',
  parameters: {
    party_id: 'text',
    terminal_id: 'text',
    bank_id: 'text',
    merchant_id: 'text',
    descriptor: 'text',
    priority: 'int4',
    created_at: 'timestamptz',
  },
  row: { terminal_id: 'text' },
  text: `insert into payout_terminal (party_id, terminal_id, bank_id, merchant_id, descriptor, priority, created_at)
         values (:party_id, :terminal_id, :bank_id, :merchant_id, :descriptor, :priority, :created_at)
         on conflict (party_id, terminal_id) do update
           set merchant_id = excluded.merchant_id, descriptor = excluded.descriptor,
               priority = excluded.priority, retired_at = null
           where payout_terminal.bank_id = excluded.bank_id
         returning terminal_id`,
});
