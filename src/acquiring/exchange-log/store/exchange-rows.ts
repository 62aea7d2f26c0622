// The exchange log in SQL. A module writes it inside the statement that changes its own row, so that an operation and its row are one.
import { hash } from 'node:crypto';
import {
  currency,
  list,
  object,
  oneOf,
  optional,
  text,
  variants,
  type Codec,
} from '../../../platform/database/codec.ts';
import type { Database } from '../../../platform/database/database.ts';
import { columnList, statement, stored, type Values } from '../../../platform/database/statement.ts';
import { declineClasses } from '../../domain/decline-class.ts';
import { decliners, type BankOperation, type BankResponse, type Declined } from '../../domain/bank-port.ts';
import { networkIds, references } from './codec.ts';
import {
  exchangeKeyOf,
  isOfAggregate,
  provedStates,
  wireKeysOf,
  type ExchangeContent,
  type ExchangeState,
  type ExchangeWrite,
  type ProvedAnswer,
} from '../domain/exchange.ts';
import type { Instant } from '../../../clock.ts';
import { defined } from '../../../defined.ts';
import type { Money } from '../../../money.ts';

/** One operation as it is stored. */
export type Exchange = {
  readonly operationId: string;
  readonly kind: BankOperation['kind'];
  readonly bankId: string;
  readonly terminalId: string;
  /** As the bank knows it. */
  readonly merchantId: string;
  readonly amount?: Money;
  readonly digest: string;
  readonly begunAt: Instant;
  readonly notAfter?: Instant;
  readonly state: ExchangeState;
  readonly answer?: KeptAnswer;
  readonly heardAt?: Instant;
};

const wireKeys: Codec<{ id: string; merchant: string }> = object({ id: text, merchant: text });

/** What is kept of a bank's answer. */
export type KeptAnswer =
  | Pick<
      BankResponse & { outcome: 'approved' },
      | 'outcome'
      | 'reference'
      | 'references'
      | 'approvalCode'
      | 'networkTransactionId'
      | 'networkIds'
      | 'eci'
      | 'advice'
    >
  | Pick<Declined, 'outcome' | 'network' | 'code' | 'advice' | 'by' | 'class' | 'text' | 'references'>;

const keptAnswer: Codec<KeptAnswer> = variants<KeptAnswer, 'outcome'>('outcome', {
  approved: {
    reference: text,
    references: optional(references),
    approvalCode: optional(text),
    networkTransactionId: optional(text),
    networkIds: optional(networkIds),
    eci: optional(text),
    advice: optional(text),
  },
  declined: {
    network: text,
    code: text,
    advice: optional(text),
    by: optional(oneOf(...decliners)),
    class: optional(oneOf(...declineClasses)),
    text: optional(text),
    references: optional(references),
  },
});

export const exchangeAnswer = stored('json?', keptAnswer);

/** The types of the columns that a change writes, in their order. */
const written = {
  aggregate_id: 'text',
  operation: 'text',
  bank_id: 'text',
  terminal_id: 'text',
  kind: 'text',
  amount_minor: 'bigint',
  currency: 'text',
  digest: 'bytea',
  card_token: 'text',
  wire_keys: 'json',
  not_after: 'timestamptz',
  begun_at: 'timestamptz',
  state: 'text',
  answer: 'json',
  far_reference: 'text',
  heard_at: 'timestamptz',
} as const;

const writtenColumns = Object.keys(written).join(', ');
const changeable = [
  'bank_id',
  'terminal_id',
  'digest',
  'wire_keys',
  'not_after',
  'state',
  'answer',
  'far_reference',
  'heard_at',
] as const;
const quoted = (states: readonly ExchangeState[]) => states.map((state) => `'${state}'`).join(', ');

/** An exchange of which a change handed over nothing keeps what it has. */
export const exchangeParameters = {
  exchanges: stored('json', {
    read: (): readonly ExchangeWrite[] => {
      throw new Error('The exchanges of a change are only written.');
    },
    write: (exchanges: readonly ExchangeWrite[]) => exchanges.map(rowOf),
  }),
} as const;

/**
 * The part of a statement that writes the exchanges of a change if `whileThereIs` has a row. What is proved stays, and an operation that
 * an older node has begun gets its row.
 */
export function recordExchanges(whileThereIs: string): string {
  const columns = Object.entries(written).map(([name, type]) => `${name} ${type}`);
  return `insert into exchange (${writtenColumns})
      select one.* from ${whileThereIs}, json_to_recordset(:exchanges) as one (${columns.join(', ')})
      on conflict (aggregate_id, operation) do update
        set ${changeable.map((name) => `${name} = excluded.${name}`).join(', ')}
        where exchange.state not in (${quoted(provedStates)})`;
}

function rowOf({ content, at, state, answer }: ExchangeWrite): { [Name in keyof typeof written]?: unknown } {
  const [aggregate_id, operation] = exchangeKeyOf(content.operationId);
  const { terminal, amount, cardToken, notAfter } = content;
  return {
    aggregate_id,
    operation,
    bank_id: terminal.bankId,
    terminal_id: terminal.id,
    kind: content.kind,
    digest: `\\x${digestOf(content)}`,
    wire_keys: wireKeysOf(content),
    begun_at: at,
    state,
    ...(amount ? { amount_minor: Number(amount.minor), currency: amount.currency } : {}),
    ...defined({ card_token: cardToken, not_after: notAfter }),
    ...(answer ? { answer: keptOf(answer), ...defined({ far_reference: farReferenceOf(answer) }) } : {}),
    ...(state === 'begun' ? {} : { heard_at: at }),
  };
}

/** A name of another form than the retrieval reference. */
function farReferenceOf(answer: ProvedAnswer): string | undefined {
  return answer.outcome === 'approved' ? answer.references?.acquirer : undefined;
}

/** Nothing personal, and nothing that only the payer's browser needed. */
function keptOf(answer: ProvedAnswer): KeptAnswer {
  if (answer.outcome === 'declined') {
    const { outcome, network, code, advice, by, class: helper, text: said, references: names } = answer;
    return {
      outcome,
      network,
      code,
      ...defined({ advice, by, class: helper, text: said, references: names }),
    };
  }
  const { outcome, reference, approvalCode, networkTransactionId, eci, advice } = answer;
  return {
    outcome,
    reference,
    ...defined({
      references: answer.references,
      approvalCode,
      networkTransactionId,
      networkIds: answer.networkIds,
      eci,
      advice,
    }),
  };
}

/** In hexadecimal digits. */
export function digestOf(content: ExchangeContent): string {
  const { operationId, kind, terminal, amount, cardToken, originalOperationId, capture } = content;
  return hash(
    'sha256',
    JSON.stringify([
      operationId,
      kind,
      terminal.merchantId,
      terminal.id,
      amount && [amount.minor.toString(), amount.currency],
      cardToken,
      originalOperationId,
      capture,
    ]),
  );
}

const kinds = ['authorise', 'capture', 'refund', 'reverse', 'payout', 'verify'] as const;
const columns = {
  aggregate_id: 'text',
  operation: 'text',
  bank_id: 'text',
  terminal_id: 'text',
  kind: stored('text', oneOf(...kinds)),
  amount_minor: 'int8?',
  currency: stored('text?', currency),
  digest: 'bytea',
  wire_keys: stored('json', wireKeys),
  not_after: 'timestamptz?',
  begun_at: 'timestamptz',
  state: stored(
    'text',
    oneOf<ExchangeState>('begun', 'challenged', 'approved', 'declined', 'givenUp', 'takenBack', 'settled'),
  ),
  answer: exchangeAnswer,
  heard_at: 'timestamptz?',
} as const;

const readExchanges = statement({
  name: 'read_exchanges',
  parameters: { aggregate_id: 'text', operation: 'text?' },
  row: columns,
  text: `select ${columnList(columns)} from exchange
         where aggregate_id = :aggregate_id and (:operation is null or operation = :operation)
         order by begun_at, operation`,
});

/** A node that knows the log may have ended it meanwhile, with more of what the bank said. */
const endExchange = statement({
  name: 'end_exchange',
  parameters: { aggregate_id: 'text', operation: 'text', state: columns.state, now: 'timestamptz' },
  row: {},
  text: `update exchange set state = :state, heard_at = :now
         where aggregate_id = :aggregate_id and operation = :operation and state in ('begun', 'challenged')`,
});

/** Of any aggregates. */
const readExchangesNamed = statement({
  name: 'read_exchanges_named',
  parameters: { operation_ids: stored('json', list(text)) },
  row: columns,
  text: `select ${columnList(columns, 'exchange')}
         from json_array_elements_text(:operation_ids) as asked (id)
         join exchange on aggregate_id = split_part(id, '.', 1)
           and operation = substr(id, length(split_part(id, '.', 1)) + 2)`,
});

export async function findExchanges(
  db: Pick<Database, 'run'>,
  operationIds: readonly string[],
): Promise<Exchange[]> {
  return (await db.run(readExchangesNamed, { operation_ids: operationIds })).map(exchangeFromRow);
}

export async function findExchange(
  db: Pick<Database, 'run'>,
  operationId: string,
): Promise<Exchange | undefined> {
  if (!isOfAggregate(operationId)) return undefined;
  const [aggregate_id, operation] = exchangeKeyOf(operationId);
  const [row] = await db.run(readExchanges, { aggregate_id, operation });
  return row && exchangeFromRow(row);
}

/** Of an exchange that is open. */
export async function storeEnd(
  db: Database,
  operationId: string,
  state: ExchangeState,
  now: Instant,
): Promise<void> {
  const [aggregate_id, operation] = exchangeKeyOf(operationId);
  await db.run(endExchange, { aggregate_id, operation, state, now });
}

/** The oldest first. */
export async function exchangesOf(db: Pick<Database, 'run'>, aggregateId: string): Promise<Exchange[]> {
  return (await db.run(readExchanges, { aggregate_id: aggregateId, operation: null })).map(exchangeFromRow);
}

function exchangeFromRow(row: Values<typeof columns>): Exchange {
  const { amount_minor: minor, currency: of, answer, heard_at: heardAt, not_after: notAfter } = row;
  return {
    operationId: `${row.aggregate_id}.${row.operation}`,
    kind: row.kind,
    bankId: row.bank_id,
    terminalId: row.terminal_id,
    merchantId: row.wire_keys.merchant,
    ...(minor !== null && of !== null ? { amount: { minor, currency: of } } : {}),
    digest: row.digest.toString('hex'),
    begunAt: row.begun_at,
    state: row.state,
    ...defined({ answer, heardAt, notAfter }),
  };
}
