// Grants in SQL. The token is shown once; only its hash is stored, and it is found by the grant's ID, which the token contains.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { columnList, parameterList, statement } from '../../platform/database/statement.ts';
import { randomText } from '../../ids.ts';
import type { Grant } from '../domain/commands.ts';

const columns = {
  grant_id: 'text',
  token_hash: 'bytea',
  kind: 'text',
  entity_id: 'text',
  amount_minor: 'int8?',
  currency: 'text?',
  valid_until: 'timestamptz',
} as const;

const insertGrant = statement({
  name: 'insert_payout_grant',
  parameters: columns,
  row: {},
  text: `insert into payout_grant (${columnList(columns)})
         values (${parameterList(columns)})`,
});

const readGrant = statement({
  name: 'read_payout_grant',
  parameters: { grant_id: 'text', kind: 'text' },
  row: { ...columns, used_by: 'text?' },
  text: `select ${columnList(columns)}, used_by from payout_grant
         where grant_id = :grant_id and kind = :kind`,
});

const takeGrant = statement({
  name: 'use_payout_grant',
  parameters: { grant_id: 'text', used_by: 'text' },
  row: { grant_id: 'text' },
  text: `update payout_grant set used_by = :used_by where grant_id = :grant_id and used_by is null
         returning grant_id`,
});

/** Only operators run it, so it has no index of its own. */
const readOpenGrants = statement({
  name: 'read_open_wallet_grants',
  parameters: { wallet_id: 'text', amount_minor: 'int8', currency: 'text', now: 'timestamptz' },
  row: { grant_id: 'text', valid_until: 'timestamptz' },
  text: `select grant_id, valid_until from payout_grant
         where kind = 'wallet' and entity_id = :wallet_id and used_by is null and valid_until > :now
           and currency = :currency and amount_minor >= :amount_minor
         order by grant_id limit 100`,
});

const tokenForm = /^g1\.([0-9A-Za-z]{23})\.([0-9A-Za-z]{43})$/;

/** The token, which is shown only once. */
export async function storeGrant(
  db: Database,
  grant: Omit<Grant, 'isUsed'> & { readonly id: string },
): Promise<string> {
  const token = `g1.${grant.id}.${randomText(43)}`;
  await db.run(insertGrant, {
    grant_id: grant.id,
    token_hash: hashOf(token),
    kind: grant.kind,
    entity_id: grant.entityId,
    amount_minor: grant.amount?.minor ?? null,
    currency: grant.amount?.currency ?? null,
    valid_until: grant.validUntil,
  });
  return token;
}

/** Undefined for an unknown or malformed token. */
export async function findGrant(
  db: Database,
  kind: Grant['kind'],
  token: string,
): Promise<(Grant & { readonly id: string }) | undefined> {
  const [, id] = tokenForm.exec(token) ?? [];
  if (id === undefined) return undefined;
  const [row] = await db.run(readGrant, { grant_id: id, kind });
  if (!row || !timingSafeEqual(row.token_hash, hashOf(token))) return undefined;
  const { amount_minor: minor, currency, valid_until: validUntil } = row;
  return {
    id,
    kind,
    entityId: row.entity_id,
    ...(minor === null || currency === null ? {} : { amount: { minor, currency } }),
    validUntil,
    isUsed: row.used_by !== null,
  };
}

/** `usedBy` is a withdrawal or `operator`. False if the grant was already used. */
export async function useGrant(tx: Database, id: string, usedBy: string): Promise<boolean> {
  const rows = await tx.run(takeGrant, { grant_id: id, used_by: usedBy });
  return rows.length > 0;
}

/** The grants with which that amount can still be paid out from the wallet. */
export async function findOpenGrants(
  db: Database,
  walletId: string,
  amount: { readonly minor: bigint; readonly currency: string },
  now: Instant,
): Promise<{ readonly id: string; readonly validUntil: Instant }[]> {
  const { minor, currency } = amount;
  const rows = await db.run(readOpenGrants, { wallet_id: walletId, amount_minor: minor, currency, now });
  return rows.map((row) => ({ id: row.grant_id, validUntil: row.valid_until }));
}

/** A plain hash suffices, because the token has 256 random bits. */
function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
