// Banks and terminals in SQL.
import { columnList, parameterList, statement, type Columns } from '../../platform/database/statement.ts';

const namedAtBank = {
  terminal_id: 'text',
  bank_id: 'text',
  merchant_id: 'text',
  descriptor: 'text',
} as const;

/** For terminals of shops and for payout terminals, which have no shop. */
function terminalStatements<const Owner extends Columns>(
  table: 'terminal' | 'payout_terminal',
  owner: Owner & { readonly party_id: 'text' },
) {
  const columns = { ...owner, ...namedAtBank, priority: 'int4', created_at: 'timestamptz' } as const;
  const key = [...Object.keys(owner), 'terminal_id'];
  const equal = (keys: readonly string[]) => keys.map((name) => `${name} = :${name}`).join(' and ');
  return {
    read: statement({
      name: `read_${table}s`,
      parameters: owner,
      row: { ...namedAtBank, is_retired: 'bool' },
      text: `select ${columnList(namedAtBank)}, retired_at is not null as is_retired from ${table}
             where ${equal(Object.keys(owner))} order by priority, terminal_id`,
    }),
    /** Returns no row when the terminal exists with another bank, which knows its payments. */
    upsert: statement({
      name: `upsert_${table}`,
      parameters: columns,
      row: { terminal_id: 'text' },
      text: `insert into ${table} (${columnList(columns)})
             values (${parameterList(columns)})
             on conflict (${key.join(', ')}) do update
               set merchant_id = excluded.merchant_id, descriptor = excluded.descriptor,
                   priority = excluded.priority, retired_at = null
               where ${table}.bank_id = excluded.bank_id
             returning terminal_id`,
    }),
    /** Only for the terminals of simulated banks, which have the priorities `:first` and `:first + 1`. */
    putFirst: statement({
      name: `put_${table}s_first`,
      parameters: { party_id: 'text', bank_id: 'text', first: 'int4' },
      row: {},
      text: `update ${table} set priority = case when bank_id = :bank_id then :first else :first + 1 end
             where party_id = :party_id and priority in (:first, :first + 1)`,
    }),
    retire: statement({
      name: `retire_${table}`,
      parameters: { ...owner, terminal_id: 'text', now: 'timestamptz' },
      row: { terminal_id: 'text' },
      text: `update ${table} set retired_at = coalesce(retired_at, :now)
             where ${equal(key)}
             returning terminal_id`,
    }),
  };
}

export const shopTerminals = terminalStatements('terminal', { party_id: 'text', shop_id: 'text' });
export const payoutTerminals = terminalStatements('payout_terminal', { party_id: 'text' });

/** Payout terminals have no shop. */
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

/** Retired terminals count too: a payment through one may still be refunded through it. */
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
