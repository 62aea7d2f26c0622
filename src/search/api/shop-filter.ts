// Which shops of a party a search, a sum or an export is of. All of them count, unless some are named.
import { Type } from 'typebox';
import type { Shop } from '../../merchants/domain/party.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import { EntityID } from '../../platform/http/schemas.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';

/** One after another, or separated by commas. */
export const IDs = Type.Array(EntityID, { minItems: 1, maxItems: 100 });
const shopIDs = Type.Optional(IDs);

/** Of all of these a shop has to fit. */
export const ShopsFilter = {
  shopID: Type.Optional(EntityID),
  shopIDs,
  excludeShopIDs: shopIDs,
  excludedShops: Type.Optional({ ...IDs, description: 'The same as `excludeShopIDs`.' }),
  paymentInstitutionRealm: Type.Optional(Type.Enum(['test', 'live'])),
};
export const ShopsQuery = {
  partyID: Type.Optional({ ...EntityID, description: 'Your own.' }),
  ...ShopsFilter,
};
export type ShopsAsked = {
  readonly shopID?: string;
  readonly shopIDs?: readonly string[];
  readonly excludeShopIDs?: readonly string[];
  readonly excludedShops?: readonly string[];
  readonly paymentInstitutionRealm?: 'test' | 'live';
};

export const isOwnParty = ({
  caller,
  query,
}: {
  readonly caller: { readonly partyId: string };
  readonly query: { readonly partyID?: string };
}) => query.partyID === undefined || query.partyID === caller.partyId;

/** The shops of the party that are asked for, in this mode: nothing mixes test and live. */
export async function shopsOf(
  {
    merchants,
    payouts: { livemode },
  }: { readonly merchants: Merchants; readonly payouts: { readonly livemode: boolean } },
  {
    caller: { partyId },
    query,
  }: { readonly caller: { readonly partyId: string }; readonly query: ShopsAsked },
): Promise<Outcome<Shop[], 'shopNotFound'>> {
  const own = (await merchants.shops(partyId)).filter((shop) => shop.livemode === livemode);
  const { shopID, shopIDs, paymentInstitutionRealm: mode } = query;
  const named = [shopID === undefined ? undefined : [shopID], shopIDs];
  const excluded = [...(query.excludeShopIDs ?? []), ...(query.excludedShops ?? [])];
  const known = new Set(own.map(({ id }) => id));
  if ([...named.flatMap((ids) => ids ?? []), ...excluded].some((id) => !known.has(id)))
    return refuse('shopNotFound');
  const isAsked = ({ id }: Shop) =>
    named.every((ids) => ids === undefined || ids.includes(id)) && !excluded.includes(id);
  return accept(mode !== undefined && (mode === 'live') !== livemode ? [] : own.filter(isAsked));
}
