// What a statement costs by the driver's own way and by ours, in processor time of the program and of PostgreSQL: one that reads
// a row with fourteen columns by its key, on one connection each, in turns. `npm run bench:statements -- [turns, 6 by default]`
import pg from 'pg';
import { processorMs } from './harness/costs.ts';
import { median } from './harness/load.ts';
import { openPrivateDatabase } from './harness/private-database.ts';
import { StatementClient } from '../src/platform/database/statement-client.ts';
import { typeParsers } from '../src/platform/database/statement.ts';
import { readOptions, wholeNumber } from '../tools/script-options.ts';

const { words } = readOptions(
  `
npm run bench:statements -- [6]
  what a statement costs by the driver's own way and by ours; in so many turns`,
  {},
  { maxWords: 1 },
);
const turns = wholeNumber('the number of turns', words[0] ?? '6');
const statementsInATurn = 2_500;
const rows = 2_000;
const text = `select true as found, note.* from note
  where note_id = $1::text and party_id = $2::text and ($3::text is null or part_id = $3::text)`;

const { connection, close } = await openPrivateDatabase({ connections: 2 });
try {
  const ways = [
    { name: "the driver's way", client: await connected(pg.Client) },
    { name: 'ours', client: await connected(StatementClient) },
  ];
  await ways[0]?.client.query(`
    create table note (note_id text primary key, part_id text, party_id text, shop_id text, version int, status text,
      created_at timestamptz default now(), amount_minor bigint, currency text, captured_minor bigint, refunded_minor bigint,
      terms json, state json, external_id text);
    insert into note select 'n' || number, '1', 'P', 'S', 1, 'captured', now(), 6000, 'RUB', 6000, 0,
      '{"flow": {"type": "instant"}, "payer": {"type": "recurrent", "contactInfo": {"email": "payer@example.com"}}}',
      '{"approval": {"reference": "1"}}', null
    from generate_series(1, ${rows}) as number;`);
  const costs = new Map(ways.map(({ name }) => [name, { own: [] as number[], database: [] as number[] }]));
  for (const { client } of ways) await read(client, statementsInATurn);
  for (let turn = 0; turn < turns; turn++) {
    for (const { name, client } of turn % 2 === 0 ? ways : ways.toReversed()) {
      const cost = await read(client, statementsInATurn);
      costs.get(name)?.own.push(cost.own);
      costs.get(name)?.database.push(cost.database);
    }
  }
  for (const [name, { own, database }] of costs)
    console.log(
      `${name}: ${median(own).toFixed(0)} µs of the program, ${median(database).toFixed(0)} µs of PostgreSQL`,
    );
  for (const { client } of ways) await client.end();
} finally {
  await close();
}

async function connected(Client: new (settings: pg.ClientConfig) => pg.Client): Promise<pg.Client> {
  const client = new Client({ ...connection, types: typeParsers, query_timeout: 12_000 });
  await client.connect();
  return client;
}

/** In microseconds each. */
async function read(client: pg.Client, count: number): Promise<{ own: number; database: number }> {
  const { rows: found } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const pid = found[0]?.pid ?? 0;
  const before = { own: process.cpuUsage(), database: processorMs(pid) };
  for (let number = 0; number < count; number++)
    await client.query({ name: 'read_note', text, values: [`n${1 + (number % rows)}`, 'P', '1'] });
  const { user, system } = process.cpuUsage(before.own);
  return { own: (user + system) / count, database: (1_000 * (processorMs(pid) - before.database)) / count };
}
