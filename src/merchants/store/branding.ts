// Reads and writes how a shop's pages look.
import { defined } from '../../defined.ts';
import type { Database } from '../../platform/database/database.ts';
import { columnList, parameterList, statement } from '../../platform/database/statement.ts';
import type { Branding } from '../domain/branding.ts';

const columns = { accent: 'text?', logo: 'bytea?', terms_url: 'text?', privacy_url: 'text?' } as const;
const name = { party_id: 'text', shop_id: 'text' } as const;

const readBranding = statement({
  name: 'read_branding',
  parameters: name,
  row: columns,
  text: `select ${columnList(columns)} from branding where party_id = :party_id and shop_id = :shop_id`,
});

const putBranding = statement({
  name: 'put_branding',
  parameters: { ...name, ...columns },
  row: {},
  text: `insert into branding (${columnList({ ...name, ...columns })})
         values (${parameterList({ ...name, ...columns })})
         on conflict (party_id, shop_id) do update set
           accent = excluded.accent, logo = excluded.logo,
           terms_url = excluded.terms_url, privacy_url = excluded.privacy_url`,
});

type ShopName = { readonly partyId: string; readonly shopId: string };

export async function findBranding(
  db: Pick<Database, 'run'>,
  { partyId, shopId }: ShopName,
): Promise<Branding> {
  const [row] = await db.run(readBranding, { party_id: partyId, shop_id: shopId });
  if (!row) return {};
  const { accent, logo, terms_url: termsUrl, privacy_url: privacyUrl } = row;
  return defined({
    accent: accent ?? undefined,
    logo: logo ?? undefined,
    termsUrl: termsUrl ?? undefined,
    privacyUrl: privacyUrl ?? undefined,
  });
}

export async function storeBranding(
  db: Pick<Database, 'run'>,
  { partyId, shopId }: ShopName,
  { accent, logo, termsUrl, privacyUrl }: Branding,
): Promise<void> {
  await db.run(putBranding, {
    party_id: partyId,
    shop_id: shopId,
    accent: accent ?? null,
    logo: logo ? Buffer.from(logo) : null,
    terms_url: termsUrl ?? null,
    privacy_url: privacyUrl ?? null,
  });
}
