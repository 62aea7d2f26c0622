// Reports the chargeable series that lack evidence of a consent, so that the merchant can obtain it before a dispute.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { instant } from '../../platform/database/codec.ts';
import { statement, stored } from '../../platform/database/statement.ts';

/** Oldest first. */
const readMissing = statement({
  name: 'read_series_without_evidence',
  parameters: { party_id: 'text', shop_id: 'text?', limit: 'int4' },
  row: { series_id: 'text', shop_id: 'text', consented_at: stored('text', instant), charges_made: 'int4' },
  text: `select series_id, shop_id, terms ->> 'consentedAt' as consented_at, (state ->> 'chargesMade')::int as charges_made
         from series
         where party_id = :party_id and (:shop_id is null or shop_id = :shop_id) and status = 'active'
           and terms -> 'mandate' ->> 'evidence' = 'missing'
         order by terms ->> 'consentedAt', series_id limit :limit`,
});

export type WithoutEvidence = {
  readonly seriesId: string;
  readonly shopId: string;
  readonly consentedAt: Instant;
  readonly chargesMade: number;
};

export async function findWithoutEvidence(
  db: Database,
  { partyId, shopId, limit }: { partyId: string; shopId: string | undefined; limit: number },
): Promise<WithoutEvidence[]> {
  const rows = await db.run(readMissing, { party_id: partyId, shop_id: shopId ?? null, limit });
  return rows.map((row) => ({
    seriesId: row.series_id,
    shopId: row.shop_id,
    consentedAt: row.consented_at,
    chargesMade: row.charges_made,
  }));
}
