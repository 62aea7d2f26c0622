// The schema with every table in four partitions by the hash of its distribution column. PostgreSQL refuses a unique constraint
// without that column.
import type pg from 'pg';
import { distributedBy, keptWhole, uniqueOtherwise } from '../../architecture/distribution.ts';

export const partitions = 4;

type Table = {
  readonly name: string;
  readonly isLogged: boolean;
  readonly constraints: readonly { readonly name: string; readonly text: string }[];
  readonly indexes: readonly string[];
  readonly triggers: readonly string[];
};

/** Needs a database without other connections. Its rows are kept. */
export async function partitionSchema(client: pg.ClientBase): Promise<void> {
  const { rows: tables } = await client.query<Table>(tableParts);
  const { rows: functions } = await client.query<{ signature: string; text: string }>(functionTexts);
  await client.query('begin');
  // They refer to the types of tables; the new ones have the same names.
  for (const { signature } of functions) await client.query(`drop function ${signature} cascade`);
  for (const table of tables) {
    const key = distributedBy[table.name];
    if (key === undefined)
      throw new Error(`test/architecture/distribution.ts does not say by what ${table.name} is distributed`);
    if (!keptWhole.includes(table.name)) await partition(client, table, key);
  }
  for (const { text } of functions) await client.query(text);
  for (const { triggers } of tables) for (const text of triggers) await client.query(text);
  await client.query('commit');
}

async function partition(client: pg.ClientBase, table: Table, key: string): Promise<void> {
  const { name, isLogged, constraints, indexes } = table;
  await client.query(`alter table ${name} rename to whole_${name}`);
  await client.query(
    `create table ${name} (like whole_${name} including defaults including generated) partition by hash (${key})`,
  );
  for (let place = 0; place < partitions; place++) {
    await client.query(
      `create ${isLogged ? '' : 'unlogged '}table ${name}_${place} partition of ${name}
       for values with (modulus ${partitions}, remainder ${place})`,
    );
  }
  await client.query(`insert into ${name} select * from whole_${name}`);
  await client.query(`drop table whole_${name} cascade`);
  for (const constraint of constraints.filter((one) => !(one.name in uniqueOtherwise)))
    await client.query(`alter table ${name} add constraint ${constraint.name} ${constraint.text}`);
  for (const text of indexes) await client.query(text);
}

const here = `'public'::regnamespace`;

/** Tables that others refer to come first, and so does a primary key. */
const tableParts = `
  select relname as name, relpersistence = 'p' as "isLogged",
    (select coalesce(json_agg(json_build_object('name', conname, 'text', pg_get_constraintdef(oid))
       order by array_position('{p,u,c,f}', contype::text), conname), '[]')
     from pg_constraint where conrelid = relation.oid and contype <> 'n') as constraints,
    to_json(array(select pg_get_indexdef(indexrelid) from pg_index where indrelid = relation.oid
      and not exists (select from pg_constraint where conindid = indexrelid))) as indexes,
    to_json(array(select pg_get_triggerdef(oid) from pg_trigger where tgrelid = relation.oid and not tgisinternal)) as triggers
  from pg_class as relation where relnamespace = ${here} and relkind = 'r'
  order by exists (select from pg_constraint where conrelid = relation.oid and contype = 'f'), relname`;

const functionTexts = `
  select oid::regprocedure as signature, pg_get_functiondef(oid) as text from pg_proc
  where pronamespace = ${here} order by oid`;
