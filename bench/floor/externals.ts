// What the floor calls: the database through the service's driver, and the bank over the bank protocol.
import pg from 'pg';
import { openLink } from '../../src/acquiring/adapters/http/link.ts';
import { party } from './charge-statements.ts';
import {
  protocolVersion,
  sign,
  signatureHeader,
  versionHeader,
} from '../../src/acquiring/adapters/http/signature.ts';

const { DATABASE_URL: connectionString = '', BANK_URL: bankUrl = '', BANK_SECRET: secret = '' } = process.env;
const connections = Number(process.env['DATABASE_CONNECTIONS'] ?? 10);
export const pool = new pg.Pool({ connectionString, max: connections });
export const bank = openLink(new URL(bankUrl).origin, 5_000);
const bankPath = new URL(bankUrl).pathname.replace(/\/$/, '');

/** Prepares each statement once per connection, as the service does. */
export function run(name: string, text: string, values: unknown[]): Promise<pg.QueryResult> {
  return pool.query({ name, text, values });
}

export type Approval = {
  readonly reference: string;
  readonly approvalCode: string;
  readonly networkTransactionId: string;
  readonly eci?: string;
};

export async function askBank(operationId: string, message: object): Promise<Approval> {
  const body = Buffer.from(JSON.stringify(message));
  const target = `${bankPath}/operations/${operationId}`;
  const exchange = await bank.ask({
    method: 'PUT',
    target,
    body,
    headers: {
      'content-type': 'application/json',
      [versionHeader]: protocolVersion,
      [signatureHeader]: sign(secret, { method: 'PUT', target, body }, Math.floor(Date.now() / 1_000)),
    },
    answerMs: 30_000,
  });
  if (exchange.kind === 'nothing') throw new Error(exchange.why);
  const { outcome, ...approval } = JSON.parse(exchange.body.toString());
  if (outcome !== 'approved')
    throw new Error(`The bank did not approve ${operationId}: ${exchange.body.toString()}`);
  return approval;
}

/** No request waits for this work. The floor has no recovery, so a failure ends it. */
export function inBackground(work: Promise<void>): void {
  work.catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
}

/** As long as what the service writes. */
export const hash = Buffer.alloc(32, 7);
export const contactInfo = { email: 'payer@example.com' };
export const cardDetails = {
  bin: '424242',
  lastDigits: '4242',
  mask: '424242******4242',
  paymentSystem: 'visa',
};

/** The shard an aggregate uses of an account with so many shards. */
export function shardOf(id: string, shards: number): number {
  return 1 + (Buffer.from(id).readUInt16LE(20) % shards);
}

export async function openAccount(
  id: string,
  owner: string | null,
  shards: number,
  isPartys = false,
): Promise<void> {
  await pool.query(
    `insert into ledger_account (account_id, livemode, currency, code, party_id, owner_id, forbids_overdraft, shards)
     values ($1, false, 'RUB', $2, $3, $4, false, $5) on conflict do nothing`,
    [id, id.split(':')[2], isPartys ? party : null, owner, shards],
  );
  await pool.query(
    `insert into ledger_balance (account_id, shard, is_unsharded) select $1, shard, false from generate_series($2::int, $3) as shard
     on conflict do nothing`,
    [id, Math.min(1, shards), shards],
  );
}
