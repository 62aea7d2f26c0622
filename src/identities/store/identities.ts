// Identities and identifications in SQL. One statement writes the row, guarded by its version, and its event.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { findByExternalId } from '../../platform/database/external-id.ts';
import { anything, oneOf } from '../../platform/database/codec.ts';
import {
  columnList,
  parameterList,
  statement,
  stored,
  type Values,
} from '../../platform/database/statement.ts';
import { changedWith, createdWith } from '../../platform/events/log.ts';
import { evolve, type Identification, type Identity, type IdentityFact } from '../domain/identity.ts';
import { identityFact, level, proofs, sender } from './codec.ts';
import { listStatement } from '../../platform/lists/list-statement.ts';
import { defined } from '../../defined.ts';

export type StoredIdentity = { readonly identity: Identity; readonly version: number };

const columns = {
  identity_id: 'text',
  party_id: 'text',
  version: 'int4',
  name: 'text',
  provider: 'text',
  class: 'text',
  level: stored('text', level),
  is_blocked: 'bool',
  created_at: 'timestamptz',
  metadata: stored('json?', anything),
  external_id: 'text?',
  effective_challenge: 'text?',
  sender: stored('json?', sender),
} as const;
const selectedColumns = columnList(columns);

const challengeColumns = {
  identity_id: 'text',
  challenge_id: 'text',
  type: 'text',
  proofs: stored('json', proofs),
  status: stored('text', oneOf('pending', 'completed', 'failed')),
  created_at: 'timestamptz',
  failure_reason: 'text?',
} as const;

const insertIdentity = statement({
  name: 'insert_identity',
  parameters: { ...columns, ...createdWith(identityFact), fingerprint: 'bytea' },
  row: { version: 'int4' },
  text: `
    with changed as (
      insert into identity (${selectedColumns}, changed_at)
      select ${parameterList(columns)}, :created_at
      where claim_external_id(:party_id, 'createIdentity', :external_id, :identity_id, :fingerprint)
      returning identity_id, party_id, version, changed_at
    )
    select append_event('identity', identity_id, version, party_id, changed_at, :facts) as version from changed`,
});

const changeIdentityRow = statement({
  name: 'change_identity',
  parameters: {
    ...changedWith(identityFact),
    identity_id: 'text',
    version: 'int4',
    level: 'text',
    is_blocked: 'bool',
    effective_challenge: 'text?',
  },
  row: { version: 'int4' },
  text: `
    with changed as (
      update identity set version = version + 1, changed_at = greatest(changed_at, :happened_at), level = :level,
        is_blocked = :is_blocked, effective_challenge = :effective_challenge
      where identity_id = :identity_id and version = :version
      returning identity_id, party_id, version, changed_at
    )
    select append_event('identity', identity_id, version, party_id, changed_at, :facts) as version from changed`,
});

const readIdentity = statement({
  name: 'read_identity',
  parameters: { identity_id: 'text', party_id: 'text?' },
  row: columns,
  text: `select ${selectedColumns} from identity
         where identity_id = :identity_id and (:party_id is null or party_id = :party_id)`,
});

const listIdentityRows = listStatement({
  name: 'list_identities',
  table: 'identity',
  idColumn: 'identity_id',
  filters: { provider: 'text?', class: 'text?', level: 'text?' },
  row: columns,
});

const insertChallenge = statement({
  name: 'insert_identity_challenge',
  parameters: challengeColumns,
  row: {},
  text: `insert into identity_challenge (${columnList(challengeColumns)}) values (${parameterList(challengeColumns)})`,
});

const endChallengeRow = statement({
  name: 'end_identity_challenge',
  parameters: { identity_id: 'text', challenge_id: 'text', status: 'text', failure_reason: 'text?' },
  row: { challenge_id: 'text' },
  text: `update identity_challenge set status = :status, failure_reason = :failure_reason
         where identity_id = :identity_id and challenge_id = :challenge_id and status = 'pending'
         returning challenge_id`,
});

const readChallenges = statement({
  name: 'read_identity_challenges',
  parameters: { identity_id: 'text', challenge_id: 'text?', status: 'text?' },
  row: challengeColumns,
  text: `select ${columnList(challengeColumns)} from identity_challenge
         where identity_id = :identity_id and (:challenge_id is null or challenge_id = :challenge_id)
           and (:status is null or status = :status)
         order by created_at, challenge_id limit 1000`,
});

/** False if the external ID is taken. */
export async function storeNewIdentity(
  db: Database,
  created: IdentityFact & { type: 'identity_created' },
  fingerprint: Buffer,
): Promise<boolean> {
  const identity = evolve(undefined, created);
  const rows = await db.run(insertIdentity, {
    identity_id: identity.id,
    party_id: identity.partyId,
    version: 1,
    name: identity.name,
    provider: identity.provider,
    class: identity.class,
    level: identity.level,
    is_blocked: false,
    created_at: identity.createdAt,
    metadata: identity.metadata ?? null,
    external_id: identity.externalId ?? null,
    effective_challenge: null,
    sender: identity.sender ?? null,
    fingerprint,
    facts: [withoutSender(created)],
  });
  return rows.length > 0;
}

/** For an operator, `partyId` is null and any identity is found. */
export async function findIdentity(
  db: Database,
  partyId: string | null,
  id: string,
): Promise<StoredIdentity | undefined> {
  const [row] = await db.run(readIdentity, { identity_id: id, party_id: partyId });
  return row && storedFromRow(row);
}

export const findIdentityByExternalId = findByExternalId(
  'identity',
  'createIdentity',
  columns,
  (row) => storedFromRow(row).identity,
);

export async function listIdentities(
  db: Database,
  asked: Values<typeof listIdentityRows.parameters>,
): Promise<Identity[]> {
  const rows = await db.run(listIdentityRows, asked);
  return rows.map((row) => storedFromRow(row).identity);
}

/** False on a version conflict. */
export async function storeIdentityFacts(
  db: Database,
  { identity, version }: StoredIdentity,
  facts: readonly IdentityFact[],
  now: Instant,
): Promise<boolean> {
  const after = facts.reduce(evolve, identity);
  const rows = await db.run(changeIdentityRow, {
    identity_id: identity.id,
    version,
    level: after.level,
    is_blocked: after.isBlocked,
    effective_challenge: after.effectiveChallenge ?? null,
    happened_at: now,
    facts,
  });
  return rows.length > 0;
}

/** The caller makes sure that none is pending and changes the identity in the same transaction: at most one is pending. */
export async function storeNewChallenge(db: Database, challenge: Identification): Promise<void> {
  await db.run(insertChallenge, {
    identity_id: challenge.identityId,
    challenge_id: challenge.id,
    type: challenge.type,
    proofs: challenge.proofs,
    status: challenge.status,
    created_at: challenge.createdAt,
    failure_reason: challenge.failureReason ?? null,
  });
}

/** False if it has already ended. */
export async function endChallenge(
  db: Database,
  challenge: Pick<Identification, 'id' | 'identityId'>,
  ending: { status: 'completed' } | { status: 'failed'; reason: string },
): Promise<boolean> {
  const rows = await db.run(endChallengeRow, {
    identity_id: challenge.identityId,
    challenge_id: challenge.id,
    status: ending.status,
    failure_reason: ending.status === 'failed' ? ending.reason : null,
  });
  return rows.length > 0;
}

export async function findChallenges(
  db: Database,
  identityId: string,
  filter: { id?: string; status?: Identification['status'] } = {},
): Promise<Identification[]> {
  const rows = await db.run(readChallenges, {
    identity_id: identityId,
    challenge_id: filter.id ?? null,
    status: filter.status ?? null,
  });
  return rows.map((row) => ({
    id: row.challenge_id,
    identityId: row.identity_id,
    type: row.type,
    proofs: row.proofs,
    createdAt: row.created_at,
    status: row.status,
    ...defined({ failureReason: row.failure_reason }),
  }));
}

function withoutSender({ type, terms }: IdentityFact & { type: 'identity_created' }): IdentityFact {
  const { sender: _, ...logged } = terms;
  return { type, terms: logged };
}

function storedFromRow(row: Values<typeof columns>): StoredIdentity {
  return {
    version: row.version,
    identity: {
      id: row.identity_id,
      partyId: row.party_id,
      name: row.name,
      provider: row.provider,
      class: row.class,
      level: row.level,
      isBlocked: row.is_blocked,
      createdAt: row.created_at,
      ...defined({
        metadata: row.metadata,
        externalId: row.external_id,
        effectiveChallenge: row.effective_challenge,
        sender: row.sender,
      }),
    },
  };
}
