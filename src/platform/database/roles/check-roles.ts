// Proves on the server what a role may do. A violation is something that an attacker with that role could use, or that the service lacks.
import type { DatabasePool } from '../database.ts';
import { appendOnlyTables, ownersTables } from './grants.ts';

/** `violations` names what breaks the rule: tables, columns or rights. */
export type RoleFinding = { readonly rule: string; readonly violations: readonly string[] };

type Rule = { readonly rule: string; readonly sql: string };
type Privilege = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE' | 'TRUNCATE' | 'TRIGGER' | 'REFERENCES';

/** They read or change everything, or the machine below, whatever was granted. */
const rolesOfServer = [
  'pg_read_all_data',
  'pg_write_all_data',
  'pg_read_server_files',
  'pg_write_server_files',
  'pg_execute_server_program',
  'pg_create_subscription',
  'pg_maintain',
];
const fileFunctions = ['pg_read_file', 'pg_read_binary_file', 'pg_ls_dir', 'lo_import', 'lo_export'];

const listOf = (words: readonly string[]) => words.map((word) => `'${word}'`).join(', ');
const ourTables = `pg_class join pg_namespace on pg_namespace.oid = relnamespace
          and nspname = 'public' and relkind in ('r', 'p')`;

/** Also where another schema has a copy of them. */
const sealedColumns = `pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
          and atttypid = 'bytea'::regtype and relkind in ('r', 'p', 'm') and relnamespace <> 'pg_catalog'::regnamespace`;
/** Of a view on tables, their columns and other views. A whole row of a table is no column of it. */
const dependencies = `join pg_depend on classid = 'pg_rewrite'::regclass and objid = pg_rewrite.oid
            and refclassid = 'pg_class'::regclass`;

/**
 * The role, and every role that it belongs to, directly or not. Rights of those count even where they are not inherited: the role can
 * become one of them.
 */
const heldRoles = `with recursive held (id) as (
          select oid from pg_roles where rolname = $1::name
          union select roleid from pg_auth_members join held on member = id)`;

/** `found` with the role that brings it, unless the role has it without that. */
const withRole = (found: string) =>
  `${found} || case when bool_or(pg_get_userbyid(id) = $1::name) then '' else ' through ' || min(pg_get_userbyid(id)) end as found`;

/** A right on one column is a right: with it rows change. */
const isHeld = `case when kind in ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
            then has_any_column_privilege(id, pg_class.oid, kind) else has_table_privilege(id, pg_class.oid, kind) end`;

/** One row for each table and privilege that the role holds. `$1` is the role. */
function privileges(of: readonly Privilege[], onTables = 'true'): string {
  return `${heldRoles}
          select ${withRole("relname || ': ' || lower(kind)")}
          from held, unnest(array[${listOf(of)}]) as kind, ${ourTables}
          where ${onTables} and ${isHeld} group by relname, kind order by 1`;
}

const rulesOfEveryRole: readonly Rule[] = [
  {
    rule: 'is no superuser and makes no roles or databases',
    sql: `${heldRoles}
          select ${withRole('attribute')}
          from held join pg_roles on oid = id cross join lateral (values ('superuser', rolsuper), ('createrole', rolcreaterole),
            ('createdb', rolcreatedb), ('replication', rolreplication), ('bypassrls', rolbypassrls)) as has (attribute, is_set)
          where is_set group by attribute order by 1`,
  },
  {
    rule: 'belongs to no role of the whole server',
    sql: `${heldRoles}
          select pg_get_userbyid(id) as found from held
          where pg_get_userbyid(id) in (${listOf(rolesOfServer)}) order by 1`,
  },
  {
    rule: 'reaches no files of the server',
    sql: `${heldRoles}
          select ${withRole('proname')} from held, pg_proc
          where pronamespace = 'pg_catalog'::regnamespace and proname in (${listOf(fileFunctions)})
            and has_function_privilege(id, pg_proc.oid, 'execute') group by proname order by 1`,
  },
  {
    rule: 'owns nothing, and belongs to no role that does',
    sql: `select name as found from (
            select relname::text as name, relowner as owner from pg_class where relnamespace = 'public'::regnamespace and relkind <> 'i'
            union all select proname || '()', proowner from pg_proc where pronamespace = 'public'::regnamespace
            union all select typname, typowner from pg_type where typnamespace = 'public'::regnamespace and typtype = 'd'
            union all select 'schema public', nspowner from pg_namespace where nspname = 'public'
            union all select 'database', datdba from pg_database where datname = current_database()) as owned
          where pg_has_role($1::name, owner, 'member') order by 1`,
  },
  {
    rule: 'creates nothing in the database and its schema',
    sql: `${heldRoles}
          select ${withRole('name')} from held, lateral (values
            ('create', has_schema_privilege(id, 'public', 'create')),
            ('create schema', has_database_privilege(id, current_database(), 'create'))) as may (name, is_held)
          where is_held group by name order by 1`,
  },
  {
    rule: 'runs no function with the rights of its owner',
    sql: `${heldRoles}
          select ${withRole("proname || '()'")} from held, pg_proc
          where prosecdef and pronamespace <> 'pg_catalog'::regnamespace
            and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e')
            and has_function_privilege(id, pg_proc.oid, 'execute') group by proname order by 1`,
  },
  {
    rule: 'cannot switch triggers off',
    sql: `${heldRoles}
          select ${withRole("'session_replication_role'")} from held
          where has_parameter_privilege(id, 'session_replication_role', 'set')
            or has_parameter_privilege(id, 'session_replication_role', 'alter system') having count(*) > 0`,
  },
];

const rulesOfService: readonly Rule[] = [
  {
    rule: 'only adds to the log and the ledger',
    sql: privileges(['UPDATE', 'DELETE'], `relname in (${listOf(appendOnlyTables)})`),
  },
  {
    rule: 'empties no table and adds no trigger',
    sql: privileges(['TRUNCATE', 'TRIGGER', 'REFERENCES']),
  },
  {
    rule: 'leaves migrations to the owner',
    sql: privileges(['INSERT', 'UPDATE', 'DELETE'], `relname in (${listOf(ownersTables)})`),
  },
  {
    rule: 'reads and writes every other table',
    sql: `select relname || ': ' || lower(kind) as found
          from unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) as kind, ${ourTables}
          where not has_table_privilege($1::name, pg_class.oid, kind)
            and not (relname in (${listOf(appendOnlyTables)}) and kind in ('UPDATE', 'DELETE'))
            and not (relname in (${listOf(ownersTables)}) and kind <> 'SELECT') order by 1`,
  },
];

const rulesOfReader: readonly Rule[] = [
  {
    rule: 'reads no sealed column',
    sql: `${heldRoles}
          select ${withRole("relname || '.' || attname")}
          from held, ${sealedColumns} where has_column_privilege(id, pg_class.oid, attnum, 'SELECT')
          group by relname, attname order by 1`,
  },
  {
    rule: 'reads no sealed column through a view',
    sql: `${heldRoles}, shown (view, by) as (
          select oid, relname from pg_class where relkind in ('v', 'm') and relnamespace <> 'pg_catalog'::regnamespace
            and exists (select from held where has_any_column_privilege(id, pg_class.oid, 'SELECT'))
          union select refobjid, by from shown join pg_rewrite on ev_class = view ${dependencies})
          select distinct by || ': ' || relname || '.' || attname as found
          from shown join pg_rewrite on ev_class = view ${dependencies} join (${sealedColumns}) on pg_class.oid = refobjid
          where refobjsubid = attnum or ev_action like '%:varattno 0 %' order by 1`,
  },
  {
    rule: 'writes nothing',
    sql: privileges(['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER', 'REFERENCES']),
  },
];

/** For each row, before an update and before a delete, as pg_trigger has it. */
const beforeEachChange = 1 + 2 + 8 + 16;
/** What migrations made of forbid_change(), in one line. */
const refusal = `begin raise exception ''rows of % are never changed or deleted'', tg_table_name; end`;

/** What holds for the database and this connection, whatever the role. */
const rulesOfDatabase: readonly Rule[] = [
  {
    rule: 'every append-only table has its trigger, switched on',
    sql: `select name as found from unnest(array[${listOf(appendOnlyTables)}]) as name
          where not exists (
            select from pg_trigger where tgrelid = to_regclass(name) and tgfoid = to_regproc('forbid_change')
              and tgenabled in ('O', 'A') and tgattr::text = '' and tgqual is null and tgtype = ${beforeEachChange})
          order by 1`,
  },
  {
    rule: 'the triggers refuse, and fire on this connection',
    sql: `select proname || '()' as found from pg_proc
          where oid = to_regproc('forbid_change') and regexp_replace(btrim(prosrc, E' \\n'), '\\s+', ' ', 'g') <> '${refusal}'
          union all select 'session_replication_role' where current_setting('session_replication_role') <> 'origin' order by 1`,
  },
  {
    rule: 'the connection is encrypted, or stays on this machine',
    sql: `select host(inet_server_addr()) as found from pg_stat_ssl
          where pid = pg_backend_pid() and not ssl
            and not (inet_server_addr() <<= '127.0.0.0/8' or inet_server_addr() = '::1')`,
  },
];

export function checkRole(
  database: DatabasePool,
  kind: 'service' | 'reader',
  role: string,
): Promise<RoleFinding[]> {
  const rules = [...rulesOfEveryRole, ...(kind === 'service' ? rulesOfService : rulesOfReader)];
  return findings(database, rules, [role]);
}

export function checkDatabase(database: DatabasePool): Promise<RoleFinding[]> {
  return findings(database, rulesOfDatabase, []);
}

/** The role of this program's own connections. */
export function ownRole(database: DatabasePool): Promise<string> {
  return database.withClient(async (client) => {
    const { rows } = await client.query<{ name: string }>('select current_user as name');
    return rows[0]?.name ?? '';
  });
}

export function roleExists(database: DatabasePool, role: string): Promise<boolean> {
  return database.withClient(async (client) => {
    const { rows } = await client.query('select from pg_roles where rolname = $1', [role]);
    return rows.length > 0;
  });
}

function findings(
  database: DatabasePool,
  rules: readonly Rule[],
  parameters: readonly string[],
): Promise<RoleFinding[]> {
  return database.withClient(async (client) => {
    const found: RoleFinding[] = [];
    for (const { rule, sql } of rules) {
      const { rows } = await client.query<{ found: string }>(sql, [...parameters]);
      found.push({ rule, violations: rows.map((row) => row.found) });
    }
    return found;
  });
}
