// The card networks that a shop takes, for its payers to see.
import { missingForCharge, type WantedCharge } from '../domain/missing-ability.ts';
import type { ShopTerminals } from './shop-terminals.ts';
import type { UsableTerminals } from './usable-terminals.ts';

export function openAcceptedNetworks(
  { inUse }: Pick<ShopTerminals, 'inUse'>,
  { ableOf }: Pick<UsableTerminals, 'ableOf'>,
) {
  return {
    /** Those of which a terminal takes cards. It selects none, so that no page uses up the probe of a bank. */
    async networksFor(
      { partyId, id: shopId }: { readonly partyId: string; readonly id: string },
      wanted: WantedCharge,
      networks: readonly string[],
    ) {
      const rows = await inUse({ partyId, shopId });
      const found = await Promise.all(
        networks.map((network) =>
          ableOf((abilities) => missingForCharge({ ...wanted, network }, abilities), rows),
        ),
      );
      return networks.filter((_, at) => found[at]?.able.length !== 0);
    },
  };
}
