// Runs the statements of the floor's recurring charge with pgbench. The floor's distance from it is the cost of HTTP, bank and
// JavaScript.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientBase } from 'pg';
import { makeTemporaryFolder } from '../../tools/temporary-folders.ts';
import {
  captureCharge,
  insertCharge,
  insertInvoice,
  insertSeries,
  readPayment,
} from '../floor/charge-statements.ts';
import type { Processes } from '../harness/processes.ts';

export const isPgbenchThere = spawnSync('pgbench', ['--version']).status === 0;

const seriesMade = 192;
const invoiceId = `'p' || lpad(:n::text, 22, '0')`;
const seriesId = `'s' || lpad(:s::text, 22, '0')`;
const json = (value: unknown) => `('${JSON.stringify(value)}')::json`;
const terms = json({ flow: { type: 'instant' }, payer: { type: 'recurrent' }, text: 'x'.repeat(500) });
const seriesState = json({ state: { name: 'active' }, text: 'x'.repeat(180) });
const fact = (type: string, characters: number) =>
  json([{ type, paymentId: '1', text: 'x'.repeat(characters) }]);
const chain = `md5(:n::text) || md5(:n::text)`;
const shard = (shards: number) => `(1 + :n::bigint % ${shards})::int`;

/** Its values are as long as the floor's. */
export const script = [
  String.raw`\set n random(1, 1000000000000000)`,
  String.raw`\set s random(1, ${seriesMade})`,
  filled(insertInvoice, [invoiceId, '6000', `'Order'`, fact('invoice_created', 200)]),
  filled(insertCharge, [
    invoiceId,
    '6000',
    terms,
    fact('payment_started', 750),
    seriesId,
    chain,
    seriesState,
    fact('recurring_charge_started', 200),
  ]),
  filled(readPayment, [invoiceId]),
  filled(captureCharge, [
    invoiceId,
    json({ approval: { text: 'x'.repeat(90) }, refundsMade: 0 }),
    shard(16),
    shard(8),
    '6000',
    fact('payment_processed', 120),
    fact('payment_captured', 90),
    seriesId,
    chain,
    seriesState,
    fact('recurring_charge_succeeded', 120),
    `'R' || lpad(:n::text, 11, '0')`,
  ]),
  filled(readPayment, [invoiceId]),
].join('\n');

export async function makeSeries(client: ClientBase): Promise<void> {
  for (let number = 1; number <= seriesMade; number++) {
    const id = `s${String(number).padStart(22, '0')}`;
    const words = JSON.stringify({ text: 'x'.repeat(180) });
    await client.query(insertSeries, [id, Buffer.alloc(32, 7), 'token', '', words, words]);
  }
}

/** Returns charges per second, with as many connections as service and floor have. */
export async function runPgbench(
  processes: Processes,
  floorDatabase: string,
  seconds: number,
): Promise<number> {
  await processes.withClient(floorDatabase, makeSeries);
  const folder = makeTemporaryFolder('pgbench');
  try {
    const file = join(folder, 'charge.sql');
    writeFileSync(file, `${script}\n`);
    const { searchParams, password, username } = new URL(
      processes.urlOf(floorDatabase).replace('@/', '@localhost/'),
    );
    const where = [
      '-h',
      searchParams.get('host') ?? '',
      '-p',
      searchParams.get('port') ?? '',
      '-U',
      username,
    ];
    const load = ['-n', '-M', 'prepared', '-c', '10', '-j', '1', '-T', String(seconds), '-f', file];
    const child = spawn('pgbench', [...where, ...load, floorDatabase], {
      env: { PATH: process.env['PATH'] ?? '', PGPASSWORD: decodeURIComponent(password) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (text) => (output += String(text)));
    await once(child, 'close');
    const [, rate] = /tps = ([\d.]+) \(without/.exec(output) ?? [];
    if (rate === undefined) throw new Error(`pgbench printed no rate: ${output}`);
    return Number(rate);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** pgbench reads every word after a colon as a variable, in literals too. */
function filled(statement: string, values: readonly string[]): string {
  const colon = (text: string) => text.replaceAll(/(?<!:):(?=\w)(?!n\b|s\b)/g, `' || chr(58) || '`);
  const valueAt = (number: string) => {
    const value = values[Number(number) - 1];
    if (value === undefined) throw new Error(`There is no value for $${number} in: ${statement}`);
    return colon(value);
  };
  return `${colon(statement).replaceAll(/\$(\d+)/g, (_, number: string) => valueAt(number))};`;
}
