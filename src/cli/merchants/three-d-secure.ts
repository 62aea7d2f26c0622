// mandate shop three-d-secure: when the payers of a shop are authenticated.
import { threeDSecureWishes } from '../../merchants/domain/party.ts';
import { setThreeDSecure, shopFromRow } from '../../merchants/store/parties.ts';
import { requireShop, withFoundation } from '../foundation.ts';

/** Without a wish it only prints. */
export async function shopThreeDSecure(
  id: string,
  text: string | undefined,
  { party }: { readonly party: string },
): Promise<void> {
  const wish = threeDSecureWishes.find((known) => known === text);
  if (text !== undefined && wish === undefined)
    throw new Error(`"${text}" is not a choice. Use ${threeDSecureWishes.join(', ')}.`);
  const shown = await withFoundation(async ({ database }) => {
    const { threeDSecure } = shopFromRow(await requireShop(database, party, id));
    if (wish !== undefined)
      await database.run(setThreeDSecure, { party_id: party, shop_id: id, three_d_secure: wish });
    return wish ?? threeDSecure;
  });
  console.log(shown);
}
