// The schema as a person reviews it: printed from PostgreSQL's catalogue, so that it shows what the migrations led to and
// not what they meant. A kind of object this page does not know is an error, never left out.
import type pg from 'pg';

const heading = `-- The schema after all migrations, printed from PostgreSQL's catalogue by \`npm run schema\`. For reading and reviewing
-- alone: what makes the database is src/platform/database/migrations.
`;

export async function schemaText(client: pg.ClientBase): Promise<string> {
  const lines = async (query: string) =>
    (await client.query<{ line: string }>(query)).rows.map(({ line }) => line);
  const unknown = await lines(unknownObjects);
  if (unknown.length > 0) throw new Error(`the schema dump cannot print ${unknown.join(', ')}; teach it to`);
  const domains = (await lines(domainLines)).map(inLowerCase);
  const functions = await lines(functionLines);
  const tables = await client.query<Table>(tableParts);
  return [heading, ...domains, ...functions.map(functionText), ...tables.rows.map(tableText)].join('\n');
}

type Table = {
  name: string;
  isLogged: boolean;
  /** Settings of its storage, `fillfactor=50` for instance. */
  storage: string[] | null;
  columns: string[];
  constraints: string[];
  indexes: string[];
  triggers: string[];
};

function tableText(table: Table): string {
  const { name, isLogged, storage, columns, constraints, indexes, triggers } = table;
  const members = [...columns, ...constraints.map(inLowerCase)].map((member) => `  ${member}`);
  const settings = storage === null ? '' : ` with (${storage.join(', ')})`;
  const text = `create ${isLogged ? '' : 'unlogged '}table ${name} (\n${members.join(',\n')}\n)${settings};\n`;
  return [text, ...[...indexes, ...triggers].map((line) => `${inLowerCase(line)};\n`)].join('');
}

/** The body stays as it was written; only the head is PostgreSQL's own. */
function functionText(definition: string): string {
  const [head = '', ...body] = definition.split('$function$');
  return `${[inLowerCase(head), ...body].join('$$').trimEnd()};\n`;
}

/** PostgreSQL prints its words in upper case; names and texts in quotes keep theirs. */
function inLowerCase(sql: string): string {
  const pieces = sql.split(/('(?:[^']|'')*'|"(?:[^"]|"")*")/);
  return pieces.map((piece, place) => (place % 2 === 0 ? piece.toLowerCase() : piece)).join('');
}

const here = `'public'::regnamespace`;

/** Whatever is neither a table with its indexes, a domain, a function nor a trigger. */
const unknownObjects = `
  select format('the %s "%s"',
           case relkind when 'v' then 'view' when 'S' then 'sequence' when 'p' then 'partitioned table'
                        else 'relation' end, relname) as line
  from pg_class where relnamespace = ${here} and relkind not in ('r', 'i')
  union all
  select format('the type "%s"', typname) from pg_type
  where typnamespace = ${here} and typtype <> 'd' and typcategory <> 'A'
    and not exists (select from pg_class where oid = typrelid)
  union all
  select format('the policy "%s"', polname) from pg_policy
  union all
  select format('the rule "%s"', rulename) from pg_rules where schemaname = 'public'
  order by line`;

const domainLines = `
  select concat(
    'create domain ', typname, ' as ', format_type(typbasetype, typtypmod),
    (select format(' collate %I', collname) from pg_collation
     where oid = typcollation
       and oid <> (select typcollation from pg_type base where base.oid = domain.typbasetype)),
    ' default ' || typdefault, case when typnotnull then ' not null' end,
    (select string_agg(' ' || pg_get_constraintdef(oid, true), '' order by conname) from pg_constraint
     where contypid = domain.oid and contype = 'c'),
    E';\\n') as line
  from pg_type domain where typnamespace = ${here} and typtype = 'd' order by typname`;

const functionLines = `
  select pg_get_functiondef(oid) as line from pg_proc where pronamespace = ${here} order by proname, oid`;

const columnTexts = `
  select concat(
    quote_ident(attname), ' ', format_type(atttypid, atttypmod),
    (select format(' collate %I', collname) from pg_collation
     where oid = attcollation and oid <> (select typcollation from pg_type where oid = atttypid)),
    case when adbin is null then null
         when attgenerated = 's'
         then format(' generated always as (%s) stored', pg_get_expr(adbin, adrelid, true))
         else ' default ' || pg_get_expr(adbin, adrelid, true) end,
    case when attnotnull then ' not null' end)
  from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
  where attrelid = relation.oid and attnum > 0 and not attisdropped order by attnum`;

/** What a column's "not null" says already is left out. */
const constraintTexts = `
  select concat('constraint ', quote_ident(conname), ' ', pg_get_constraintdef(oid, true)) from pg_constraint
  where conrelid = relation.oid and contype <> 'n'
  order by array_position('{p,u,f,c}', contype::text), conname`;

/** Those of a key are made with the key. */
const indexTexts = `
  select pg_get_indexdef(indexrelid, 0, true) from pg_index join pg_class named on named.oid = indexrelid
  where indrelid = relation.oid and not exists (select from pg_constraint where conindid = indexrelid)
  order by named.relname`;

const triggerTexts = `
  select pg_get_triggerdef(oid, true) from pg_trigger
  where tgrelid = relation.oid and not tgisinternal order by tgname`;

const tableParts = `
  select relname as name, relpersistence = 'p' as "isLogged", to_json(reloptions) as storage,
    to_json(array(${columnTexts})) as columns,
    to_json(array(${constraintTexts})) as constraints,
    to_json(array(${indexTexts})) as indexes,
    to_json(array(${triggerTexts})) as triggers
  from pg_class relation where relnamespace = ${here} and relkind = 'r' order by relname`;
