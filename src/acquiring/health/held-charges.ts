// Which banks get no charges that Mandate begins automatically: the hold is in the row of the bank, so that all nodes agree.
import { epochMsOf, laterBy, type Clock, type Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { BankRegistry } from '../bank-registry.ts';
import type { ChargeHeard } from '../domain/charge-heard.ts';
import type { openChargeRouting } from '../routing/charge-routing.ts';
import type { ShopName } from '../routing/shop-terminals.ts';
import { holdCharges } from '../store/held-charges.ts';
import { openChargeBrake, type Hold } from './charge-brake.ts';

export type HeldChargesOptions = {
  readonly db: Pick<Database, 'run'>;
  readonly clock: Clock;
  /** Alerts the operator. Called once the hold is stored, on one node. */
  readonly onHeld: (bankId: string, because: Hold['because'], until: Instant) => void;
};

export function openHeldCharges(
  { db, clock, onHeld }: HeldChargesOptions,
  registry: Pick<BankRegistry, 'chargesHeldUntil' | 'forget'>,
  routing: Pick<ReturnType<typeof openChargeRouting>, 'homeOfCharges'>,
) {
  const brake = openChargeBrake(() => epochMsOf(clock.now()));

  /** On the clock of the shop, so that a test clock which is ahead is held up by none. */
  async function holdsCharges(bankId: string, now: Instant): Promise<boolean> {
    return isHeld(await registry.chargesHeldUntil(bankId), now);
  }

  return {
    holdsCharges,
    /** Whether the bank of the shop gets no charges that Mandate begins automatically. */
    async holdsChargesOf(shop: ShopName, now: Instant): Promise<boolean> {
      const bankId = await routing.homeOfCharges(shop, now);
      return bankId !== undefined && holdsCharges(bankId, now);
    },
    /** When too many charges that Mandate began automatically fail, all nodes begin none at this bank for a time. */
    async hearCharge(heard: ChargeHeard): Promise<void> {
      const { bankId } = heard;
      const [now, heldUntil] = [clock.now(), await registry.chargesHeldUntil(bankId)];
      // It was begun before.
      if (isHeld(heldUntil, now)) return;
      const hold = brake.hear(heard, heldUntil);
      if (!hold) return;
      const until = laterBy(now, hold.forMs);
      const row = { bank_id: bankId, held_until: heldUntil, now, until, because: hold.because };
      const held = await db.run(holdCharges, row);
      await registry.forget(bankId);
      if (held.length > 0) onHeld(bankId, hold.because, until);
    },
  };
}

function isHeld(until: Instant | null, now: Instant): boolean {
  return until !== null && until > now;
}
