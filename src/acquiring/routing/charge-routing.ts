// Selects the terminal of a payment: the first by priority whose bank is reachable and declares what is wanted.
import type { Instant } from '../../clock.ts';
import { accept } from '../../refusal.ts';
import type { StandIn } from '../domain/routing/reroute.ts';
import { missingForCharge, type WantedCharge } from '../domain/missing-ability.ts';
import type { ShopName, ShopTerminals } from './shop-terminals.ts';
import type { TerminalHolds } from './terminal-holds.ts';
import { noTerminal, notPaused, terminalFrom, type TerminalRow } from './terminal-rows.ts';
import type { UsableTerminals } from './usable-terminals.ts';

type Shop = { readonly partyId: string; readonly id: string };

export function openChargeRouting(
  terminals: Pick<ShopTerminals, 'inUse'> & Pick<TerminalHolds, 'holdingAlike'>,
  { notAway, firstOf, takingIdsOf, ableOf }: UsableTerminals,
) {
  const ofShop = ({ partyId, id }: Shop) => terminals.inUse({ partyId, shopId: id });
  const ableToCharge = <Row extends TerminalRow>(wanted: WantedCharge, rows: readonly Row[]) =>
    ableOf((abilities) => missingForCharge(wanted, abilities), rows);

  return {
    /** The terminal of a charge whose payer is present: the first by priority at a bank that declares all that is wanted. */
    async terminalFor(shop: Shop, wanted: WantedCharge) {
      const { able, missing } = await ableToCharge(wanted, await ofShop(shop));
      const row = firstOf(able);
      return row ? accept(terminalFrom(row)) : noTerminal(missing);
    },
    /**
     * The same for a charge without the payer, which avoids paused terminals while one is not paused. Only a bank that takes the
     * network IDs of another acquirer's series stands in for one that is away or stopped.
     */
    async terminalOfCharge(shop: Shop, wanted: WantedCharge, now: Instant) {
      const { able, missing } = await ableToCharge(wanted, await ofShop(shop));
      const open = notPaused(able, now);
      const [home = able[0]] = open;
      if (!home) return noTerminal(missing);
      const row = notAway([home]) ?? notAway(await takingIdsOf(home.bank_id, open)) ?? home;
      return accept(terminalFrom(row));
    },
    /** The bank of most charges without the payer: that of the first terminal that is not paused. */
    async homeOfCharges(shop: ShopName, now: Instant): Promise<string | undefined> {
      return notPaused(await terminals.inUse(shop), now)[0]?.bank_id;
    },
    /** Undefined when all banks of the shop are unreachable. */
    async alternateTerminal(shop: ShopName, { terminal, chargedAt, idsOf, heldAt, wanted }: StandIn = {}) {
      const all = await terminals.inUse(shop);
      const inTurn = all.filter(({ terminal_id: id }) => id !== terminal?.id);
      const rows = wanted ? (await ableToCharge(wanted, inTurn)).able : inTurn;
      const alike = heldAt ? await terminals.holdingAlike(shop, heldAt, rows) : rows;
      const open = chargedAt === undefined ? alike : notPaused(alike, chargedAt);
      const row = notAway(idsOf ? await takingIdsOf(idsOf.bankId, open) : open);
      return row && terminalFrom(row);
    },
  };
}
