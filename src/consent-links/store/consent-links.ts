// Consent links in SQL. The payer's agreement and a cancellation lock the row, so that one link has one attempt at a time.
import type { Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { oneOf, type Codec } from '../../platform/database/codec.ts';
import type { Database } from '../../platform/database/database.ts';
import { findByExternalId } from '../../platform/database/external-id.ts';
import {
  columnList,
  parameterList,
  statement,
  stored,
  type Values,
} from '../../platform/database/statement.ts';
import { receiptLanguages } from '../../receipts/domain/receipt.ts';
import { mandateTerms } from '../../receipts/store/codec.ts';
import type { ConsentLink, NewTerms } from '../domain/consent-link.ts';

const newTerms = mandateTerms as Codec<NewTerms>;

const columns = {
  consent_link_id: 'text',
  party_id: 'text',
  shop_id: 'text',
  series_id: 'text',
  terms: stored('json', newTerms),
  language: stored('text?', oneOf(...receiptLanguages)),
  redirect_url: 'text?',
  external_id: 'text?',
  created_at: 'timestamptz',
  expires_at: 'timestamptz',
  customer_id: 'text?',
  binding_id: 'text?',
  cancelled_at: 'timestamptz?',
} as const;

/** No row if the name is taken. */
const insertLink = statement({
  name: 'insert_consent_link',
  parameters: { ...columns, operation: 'text', named: 'text?', fingerprint: 'bytea' },
  row: { consent_link_id: 'text' },
  text: `
    insert into consent_link (${columnList(columns)})
    select ${parameterList(columns)}
    where claim_external_id(:party_id, :operation, :named, :consent_link_id, :fingerprint)
    returning consent_link_id`,
});

const readLink = statement({
  name: 'read_consent_link',
  parameters: { consent_link_id: 'text' },
  row: columns,
  text: `select ${columnList(columns)} from consent_link where consent_link_id = :consent_link_id`,
});

const lockLinkRow = statement({
  name: 'lock_consent_link',
  parameters: { consent_link_id: 'text' },
  row: columns,
  text: `select ${columnList(columns)} from consent_link where consent_link_id = :consent_link_id for update`,
});

const setAttempt = statement({
  name: 'set_attempt_of_consent_link',
  parameters: { consent_link_id: 'text', customer_id: 'text', binding_id: 'text' },
  row: {},
  text: `update consent_link set customer_id = :customer_id, binding_id = :binding_id where consent_link_id = :consent_link_id`,
});

const cancelLink = statement({
  name: 'cancel_consent_link',
  parameters: { consent_link_id: 'text', cancelled_at: 'timestamptz' },
  row: {},
  text: `update consent_link set cancelled_at = :cancelled_at where consent_link_id = :consent_link_id`,
});

const creation = 'createConsentLink';
/** Names of Mandate's own, which no merchant can take. */
const offer = 'offerConsentLink';

/** False if the external ID is taken. */
export function storeNewLink(db: Database, link: ConsentLink, fingerprint: Buffer): Promise<boolean> {
  return storeLink(db, link, { operation: creation, named: link.externalId, fingerprint });
}

/** False if another request has stored a link with this name. */
export function storeOfferedLink(db: Database, link: ConsentLink, named: string): Promise<boolean> {
  return storeLink(db, link, { operation: offer, named, fingerprint: Buffer.alloc(0) });
}

async function storeLink(
  db: Database,
  link: ConsentLink,
  {
    named,
    ...claim
  }: { readonly operation: string; readonly named: string | undefined; readonly fingerprint: Buffer },
): Promise<boolean> {
  const rows = await db.run(insertLink, {
    consent_link_id: link.id,
    party_id: link.partyId,
    shop_id: link.shopId,
    series_id: link.seriesId,
    terms: link.terms,
    language: link.language ?? null,
    redirect_url: link.redirectUrl ?? null,
    external_id: link.externalId ?? null,
    created_at: link.createdAt,
    expires_at: link.expiresAt,
    customer_id: null,
    binding_id: null,
    cancelled_at: null,
    named: named ?? null,
    ...claim,
  });
  return rows.length > 0;
}

export async function loadLink(db: Database, linkId: string): Promise<ConsentLink | undefined> {
  const [row] = await db.run(readLink, { consent_link_id: linkId });
  return row && linkFromRow(row);
}

/** Locks the row until the transaction ends. */
export async function lockLink(tx: Database, linkId: string): Promise<ConsentLink | undefined> {
  const [row] = await tx.run(lockLinkRow, { consent_link_id: linkId });
  return row && linkFromRow(row);
}

export const findLinkByExternalId = findByExternalId('consent_link', creation, columns, linkFromRow);
export const findOfferedLink = findByExternalId('consent_link', offer, columns, linkFromRow, {
  name: 'read_offered_consent_link',
});

export async function storeAttempt(
  tx: Database,
  linkId: string,
  { customerId, bindingId }: NonNullable<ConsentLink['attempt']>,
): Promise<void> {
  await tx.run(setAttempt, { consent_link_id: linkId, customer_id: customerId, binding_id: bindingId });
}

export async function storeCancellation(tx: Database, linkId: string, now: Instant): Promise<void> {
  await tx.run(cancelLink, { consent_link_id: linkId, cancelled_at: now });
}

function linkFromRow(row: Values<typeof columns>): ConsentLink {
  const { customer_id: customerId, binding_id: bindingId } = row;
  return {
    id: row.consent_link_id,
    partyId: row.party_id,
    shopId: row.shop_id,
    seriesId: row.series_id,
    terms: row.terms,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    ...(customerId === null || bindingId === null ? {} : { attempt: { customerId, bindingId } }),
    ...defined({
      language: row.language,
      redirectUrl: row.redirect_url,
      externalId: row.external_id,
      cancelledAt: row.cancelled_at,
    }),
  };
}
