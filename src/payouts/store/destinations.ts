// Destinations in SQL. A change is one statement: the row, guarded by its version, its event, and when its job is due.
import { cardDetails } from '../../cards/store/codec.ts';
import { cardIdOf, tokenOf } from '../../cards/domain/payment-resource.ts';
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { anything, currency, list, oneOf, text } from '../../platform/database/codec.ts';
import {
  columnList,
  parameterList,
  statement,
  stored,
  type Values,
} from '../../platform/database/statement.ts';
import { changedWith, createdWith } from '../../platform/events/log.ts';
import {
  stateAfter,
  type Destination,
  type DestinationFact,
  type DestinationState,
} from '../domain/destination.ts';
import { maxReturns } from '../domain/withdrawal.ts';
import { sender } from '../../identities/store/codec.ts';
import { isBlockedSql, joinIdentity } from '../../identities/store/sql-fragments.ts';
import { readsOf } from '../../platform/lists/stored-reads.ts';
import { defined } from '../../defined.ts';
import { destinationFact, failure } from './codec.ts';
import { rescheduleStatement } from '../../platform/jobs/reschedule.ts';

export type StoredDestination = { readonly destination: Destination; readonly version: number };

const columns = {
  destination_id: 'text',
  party_id: 'text',
  identity_id: 'text',
  version: 'int4',
  name: 'text',
  currency: stored('text', currency),
  status: stored('text', oneOf('checking', 'authorized', 'refused')),
  created_at: 'timestamptz',
  card_token: 'text',
  card_hash: 'bytea?',
  card: stored('json', cardDetails),
  failure: stored('json?', failure),
  metadata: stored('json?', anything),
  external_id: 'text?',
} as const;

/** With the columns a destination takes from its identity and its party. */
const readColumns = {
  ...columns,
  is_blocked: 'bool',
  provider: 'text',
  sender: stored('json?', sender),
} as const;
const insertDestination = statement({
  name: 'insert_destination',
  parameters: {
    ...columns,
    ...createdWith(destinationFact),
    fingerprint: 'bytea',
    wake_at: 'timestamptz',
    attempts: 'int4',
  },
  row: { version: 'int4' },
  text: `
    with changed as (
      insert into destination (${columnList(columns)}, changed_at, wake_at, attempts)
      select ${parameterList(columns)}, :created_at, :wake_at, :attempts
      where claim_external_id(:party_id, 'createDestination', :external_id, :destination_id, :fingerprint)
      returning destination_id, party_id, version, changed_at
    )
    select append_event('destination', destination_id, version, party_id, changed_at, :facts) as version from changed`,
});

const changeDestinationRow = statement({
  name: 'change_destination',
  parameters: {
    ...changedWith(destinationFact),
    destination_id: 'text',
    version: 'int4',
    status: columns.status,
    failure: columns.failure,
  },
  row: { version: 'int4' },
  text: `
    with changed as (
      update destination set version = version + 1, changed_at = greatest(changed_at, :happened_at), status = :status,
        failure = :failure,
        -- After an inconclusive check the job runner decides when the next is due.
        wake_at = case when :status = 'checking' then wake_at end,
        attempts = case when :status = 'checking' then attempts else 0 end,
        stuck_at = null, stuck_reason = null
      where destination_id = :destination_id and version = :version
      returning destination_id, party_id, version, changed_at
    )
    select append_event('destination', destination_id, version, party_id, changed_at, :facts) as version from changed`,
});

export const {
  find: findDestination,
  findByExternalId: findDestinationByExternalId,
  list: listDestinations,
} = readsOf({
  table: 'destination',
  createdBy: 'createDestination',
  row: readColumns,
  // One from which money came back too often is blocked too.
  select: `${columnList(columns, 'destination')}, provider, sender,
    (${isBlockedSql.replace(/ as is_blocked$/, '')} or returns >= ${maxReturns}) as is_blocked`,
  join: joinIdentity('destination'),
  filters: { identity_id: 'text?', currency: 'text?' },
  storedOf: storedFromRow,
  valueOf: ({ destination }) => destination,
});

const rescheduleDestination = rescheduleStatement('destination', ['destination_id'], 'continue');

/** False if the external ID is taken. */
const readCardsOfDestinations = statement({
  name: 'read_cards_of_destinations',
  parameters: { tokens: stored('json', list(text)) },
  row: { card_token: 'text' },
  text: `select distinct card_token from destination where card_token in (select json_array_elements_text(:tokens))`,
});

/** Which of these cards are paid out to. */
export async function findPaidOutTo(db: Database, cardIds: readonly string[]): Promise<ReadonlySet<string>> {
  const tokens = cardIds.map((cardId) => tokenOf(cardId, 'payout'));
  const rows = await db.run(readCardsOfDestinations, { tokens });
  return new Set(rows.flatMap(({ card_token }) => cardIdOf(card_token) ?? []));
}

export async function storeNewDestination(
  db: Database,
  created: DestinationFact & { type: 'destination_created' },
  fingerprint: Buffer,
  claim: { wake_at: Instant; attempts: number },
): Promise<boolean> {
  const { terms } = created;
  const { cardToken, cardHash, ...logged } = terms;
  const rows = await db.run(insertDestination, {
    destination_id: terms.id,
    party_id: terms.partyId,
    identity_id: terms.identityId,
    version: 1,
    name: terms.name,
    currency: terms.currency,
    status: stateAfter('absent', created).status,
    created_at: terms.createdAt,
    card_token: cardToken,
    card_hash: cardHash ?? null,
    card: terms.card,
    failure: null,
    metadata: terms.metadata ?? null,
    external_id: terms.externalId ?? null,
    fingerprint,
    ...claim,
    facts: [{ type: created.type, terms: logged }],
  });
  return rows.length > 0;
}

/** False on a version conflict. */
export async function storeDestinationFact(
  db: Database,
  { destination, version }: StoredDestination,
  fact: DestinationFact,
  now: Instant,
): Promise<boolean> {
  const state = stateAfter(destination.state.status, fact);
  const rows = await db.run(changeDestinationRow, {
    destination_id: destination.id,
    version,
    status: state.status,
    failure: state.status === 'refused' ? state.failure : null,
    happened_at: now,
    facts: [fact],
  });
  return rows.length > 0;
}

/** No job is due any more. */
export async function letRest(db: Database, { destination, version }: StoredDestination): Promise<void> {
  await db.run(rescheduleDestination, { destination_id: destination.id, version, wake_at: null });
}

function storedFromRow(row: Values<typeof readColumns>): StoredDestination {
  return {
    version: row.version,
    destination: {
      id: row.destination_id,
      partyId: row.party_id,
      identityId: row.identity_id,
      name: row.name,
      currency: row.currency,
      createdAt: row.created_at,
      cardToken: row.card_token,
      card: row.card,
      ...defined({ cardHash: row.card_hash, metadata: row.metadata, externalId: row.external_id }),
      state: stateFromRow(row),
      isBlocked: row.is_blocked,
      provider: row.provider,
      ...defined({ owner: row.sender }),
    },
  };
}

function stateFromRow({ status, failure: why }: Values<typeof readColumns>): DestinationState {
  if (status !== 'refused') return { status };
  if (why === null) throw new Error('a destination is stored as refused without a failure');
  return { status, failure: why };
}
