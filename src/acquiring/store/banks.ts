// Banks and terminals in SQL.
import {
  columnList,
  parameterList,
  statement,
  stored,
  type Columns,
} from '../../platform/database/statement.ts';
import { merchantFacts, payoutTerminalTerms } from './codec.ts';

const namedAtBank = {
  terminal_id: 'text',
  bank_id: 'text',
  merchant_id: 'text',
  descriptor: 'text',
  merchant_facts: stored('json?', merchantFacts),
} as const;

const equal = (names: readonly string[]) => names.map((name) => `${name} = :${name}`).join(' and ');
const cleared = (columns: Columns) =>
  Object.keys(columns)
    .map((name) => `, ${name} = null`)
    .join('');

/**
 * For terminals of shops and for payout terminals, which have no shop. Only one table has the `own` columns, which an operator sets,
 * and the columns of `pause`, which a change by an operator clears.
 */
function terminalStatements<
  const Owner extends Columns,
  const Own extends Columns,
  const Pause extends Columns,
>(
  table: 'terminal' | 'payout_terminal',
  owner: Owner & { readonly party_id: 'text' },
  { own, pause }: { readonly own: Own; readonly pause: Pause },
) {
  const named = { ...namedAtBank, ...own } as const;
  const columns = { ...owner, ...named, priority: 'int4', created_at: 'timestamptz' } as const;
  const changeable = ['merchant_id', 'descriptor', 'merchant_facts', 'priority', ...Object.keys(own)];
  const key = [...Object.keys(owner), 'terminal_id'];
  return {
    read: statement({
      name: `read_${table}s`,
      parameters: owner,
      row: { ...named, is_retired: 'bool', ...pause },
      text: `select ${columnList({ ...named, ...pause })}, retired_at is not null as is_retired from ${table}
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
               set ${changeable.map((column) => `${column} = excluded.${column}`).join(', ')},
                   retired_at = null${cleared(pause)}
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
      text: `update ${table} set retired_at = coalesce(retired_at, :now) where ${equal(key)} returning terminal_id`,
    }),
  };
}

const pause = { paused_until: 'timestamptz?', paused_because: 'text?' } as const;
const ofShop = { party_id: 'text', shop_id: 'text' } as const;
export const shopTerminals = terminalStatements('terminal', ofShop, { own: {}, pause });
export const payoutTerminals = terminalStatements(
  'payout_terminal',
  { party_id: 'text' },
  { own: { terms: stored('json', payoutTerminalTerms) }, pause: {} },
);

/** Those in use. What is sent to a shared one may be of another party, though that party has retired it. */
export const terminalsOfParty = statement({
  name: 'read_terminals_of_party',
  parameters: { party_id: 'text' },
  row: { shop_id: 'text', ...namedAtBank, is_shared: 'bool' },
  text: `select shop_id, ${columnList(namedAtBank)}, exists (
           select from terminal as other
           where other.party_id <> terminal.party_id and other.bank_id = terminal.bank_id
             and other.terminal_id = terminal.terminal_id and other.merchant_id = terminal.merchant_id
         ) as is_shared
         from terminal where party_id = :party_id and retired_at is null order by shop_id, priority, terminal_id`,
});

export const pauseTerminal = statement({
  name: 'pause_terminal',
  parameters: { ...ofShop, terminal_id: 'text', until: 'timestamptz', because: 'text' },
  row: {},
  text: `update terminal set paused_until = greatest(paused_until, :until), paused_because = :because
         where party_id = :party_id and shop_id = :shop_id and terminal_id = :terminal_id`,
});

/** Returns a row if the terminal was paused. */
export const resumeTerminal = statement({
  name: 'resume_terminal',
  parameters: { ...ofShop, terminal_id: 'text' },
  row: { terminal_id: 'text' },
  text: `update terminal set paused_until = null, paused_because = null
         where party_id = :party_id and shop_id = :shop_id and terminal_id = :terminal_id and paused_until is not null
         returning terminal_id`,
});

/** A pause is on the clock of its merchant, which a test clock may have moved. */
export const countPausedTerminals = statement({
  name: 'count_paused_terminals',
  parameters: { now: 'timestamptz' },
  row: { paused: 'int8' },
  text: `select count(*) as paused from terminal left join test_clock using (party_id)
         where paused_until > :now + coalesce(offset_ms, 0) * interval '1 ms' and retired_at is null`,
});

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
    merchant_facts: stored('json?', merchantFacts),
    priority: 'int4',
    retired_at: 'timestamptz?',
    ...pause,
    terms: stored('json?', payoutTerminalTerms),
  },
  text: `select shop_id, terminal_id, bank_id, merchant_id, descriptor, merchant_facts, priority, retired_at, paused_until,
           paused_because, terms
         from (
           select party_id, shop_id, terminal_id, bank_id, merchant_id, descriptor, merchant_facts, priority, retired_at,
             paused_until, paused_because, null as terms from terminal
           union all
           select party_id, null, terminal_id, bank_id, merchant_id, descriptor, merchant_facts, priority, retired_at,
             null, null, terms from payout_terminal
         ) as terminal
         where party_id = :party_id order by shop_id nulls last, retired_at is not null, priority, terminal_id`,
});

export const readBank = statement({
  name: 'read_bank',
  parameters: { bank_id: 'text' },
  row: {
    url: 'text',
    secret_ciphertext: 'bytea',
    key_version: 'int4',
    is_stopped: 'bool',
    charges_held_until: 'timestamptz?',
    abilities: 'text?',
  },
  text: `select url, secret_ciphertext, key_version, stopped_at is not null as is_stopped, charges_held_until,
           case when starts_with(abilities, url || ' ') then substr(abilities, length(url) + 2) end as abilities
         from bank where bank_id = :bank_id`,
});

/**
 * With the address that said so, because a program that does not know the column may change the address. Only of the bank at that
 * address: it may have been changed since it was asked.
 */
export const storeAbilities = statement({
  name: 'store_abilities',
  parameters: { bank_id: 'text', url: 'text', abilities: 'text' },
  row: { bank_id: 'text' },
  text: `update bank set abilities = url || ' ' || :abilities
         where bank_id = :bank_id and url = :url and abilities is distinct from url || ' ' || :abilities
         returning bank_id`,
});

export const listBanks = statement({
  name: 'list_banks',
  parameters: {},
  row: {
    bank_id: 'text',
    url: 'text',
    created_at: 'timestamptz',
    is_shared: 'bool',
    stopped_at: 'timestamptz?',
    stopped_because: 'text?',
    checked_at: 'timestamptz?',
    check_problem: 'text?',
    charges_held_until: 'timestamptz?',
    charges_held_because: 'text?',
    terminals: 'int8',
  },
  text: `select bank_id, url, created_at, is_shared, stopped_at, stopped_because, checked_at, check_problem,
                charges_held_until, charges_held_because,
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
  text: `insert into bank (bank_id, url, secret_ciphertext, key_version, created_at, report_cursor)
         values (:bank_id, :url, :secret_ciphertext, :key_version, :created_at, 0)
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
