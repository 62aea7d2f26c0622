// The roles of a database in live mode: the owner migrates, the service works, a reader reports. An attacker on a node can then not
// rewrite the log, and a report cannot copy sealed card data.

/** Rows are only ever added: triggers refuse every change, and a role that does not own the table cannot drop them. */
export const appendOnlyTables: readonly string[] = ['event', 'ledger_transfer'];

/** Written by migrations, which the owner runs. */
export const ownersTables: readonly string[] = ['migration'];

export type RoleNames = { readonly service: string; readonly reader?: string };

/**
 * SQL for the owner of the tables, to be run again after each upgrade. Sealed data and keyed hashes are all of type bytea, so a
 * reader gets every column of another type.
 */
export function grantsScript({ service, reader }: RoleNames): string {
  const names = [service, ...(reader === undefined ? [] : [reader])];
  return [
    '-- Run this as the owner of the tables, and again after each upgrade.',
    'begin;',
    ...names.map(requireRole),
    grantsOfService(service),
    ...(reader === undefined ? [] : [grantsOfReader(reader)]),
    'commit;',
  ].join('\n');
}

/** Stops the script before it has changed anything. */
function requireRole(name: string): string {
  const message = literal(`There is no role "${name}". Create it: createuser --pwprompt ${name}`);
  return `do $$ begin
  if not exists (select from pg_roles where rolname = ${literal(name)}) then
    raise exception using message = ${message};
  end if;
end $$;`;
}

function grantsOfService(name: string): string {
  const role = identifier(name);
  return `revoke all on all tables in schema public from ${role};
revoke create on schema public from public, ${role};
grant usage on schema public to ${role};
grant select, insert, update, delete on all tables in schema public to ${role};
revoke update, delete on ${appendOnlyTables.join(', ')} from ${role};
revoke insert, update, delete on ${ownersTables.join(', ')} from ${role};
alter default privileges in schema public grant select, insert, update, delete on tables to ${role};`;
}

function grantsOfReader(name: string): string {
  return `revoke all on all tables in schema public from ${identifier(name)};
grant usage on schema public to ${identifier(name)};
do $$
declare
  one record;
begin
  for one in
    select table_name, string_agg(quote_ident(column_name), ', ') as readable
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = 'public' and table_type = 'BASE TABLE' and data_type <> 'bytea'
    group by table_name
  loop
    execute format('grant select (%s) on public.%I to %I', one.readable, one.table_name, ${literal(name)});
  end loop;
end $$;`;
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
