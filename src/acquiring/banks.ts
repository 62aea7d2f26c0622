// The banks as the service uses them: the registry, the routing of payments and payouts, and what is known of their health.
import { epochMsOf, instantAt, type Instant } from '../clock.ts';
import { accept, refuse, type Outcome } from '../refusal.ts';
import type { ChargeHeard } from './domain/charge-heard.ts';
import { openChargeBrake, type Hold } from './health/charge-brake.ts';
import { holdCharges } from './store/held-charges.ts';
import { openBankHealth, type AwayBank } from './health/bank-health.ts';
import { openBankRegistry, type BankRegistryOptions } from './bank-registry.ts';
import type { BankOperation, Terminal } from './domain/bank-port.ts';
import { missingAbility } from './domain/missing-ability.ts';
import { storeSharing } from './exchange-log/store/watched-banks.ts';
import { sandboxTerminals } from './routing/sandbox-terminals.ts';
import { openAcceptedNetworks } from './routing/accepted-networks.ts';
import { openChargeRouting } from './routing/charge-routing.ts';
import { openPayoutRouting } from './routing/payout-routing.ts';
import { openShopTerminals, type ShopName, type ShopTerminalsOptions } from './routing/shop-terminals.ts';
import { notDeclared } from './routing/terminal-rows.ts';
import { openTerminalHolds } from './routing/terminal-holds.ts';
import { openUsableTerminals } from './routing/usable-terminals.ts';

export type Banks = ReturnType<typeof openBanks>;
export type { BankSettings } from './bank-secret.ts';
export type { TerminalRefusal } from './routing/terminal-rows.ts';

type BanksOptions = BankRegistryOptions &
  ShopTerminalsOptions & {
    /** Tells the operator that a bank has gone away, or is back. */
    readonly onHealth: (bank: AwayBank, is: 'away' | 'back') => void;
    /** Alerts the operator. Called once the hold is stored, on one node. */
    readonly onHeld: (bankId: string, because: Hold['because'], until: Instant) => void;
  };

export function openBanks(options: BanksOptions) {
  const { db, clock, onHealth, onHeld } = options;
  const health = openBankHealth(() => epochMsOf(clock.now()), onHealth);
  const registry = openBankRegistry(options, health);
  const usable = openUsableTerminals(registry, health);
  const { inUse, ...terminals } = openShopTerminals(options);
  const { holdingAlike, ...holdDays } = openTerminalHolds(options, usable);
  const payouts = openPayoutRouting(options, usable);
  const routing = openChargeRouting({ inUse, holdingAlike }, usable);
  const brake = openChargeBrake(() => epochMsOf(clock.now()));

  /** On the clock of the shop, so that a test clock which is ahead is held up by none. */
  const holdsCharges = async (bankId: string, now: Instant) => {
    const until = await registry.chargesHeldUntil(bankId);
    return until !== null && until > now;
  };

  return {
    ...registry,
    ...terminals,
    ...holdDays,
    ...routing,
    ...openAcceptedNetworks({ inUse }, usable),
    ...payouts,
    /** Whether the bank of an operation that is to begin declares that it can do it. One that was never heard counts as able. */
    async takes(operation: BankOperation): Promise<Outcome<undefined, 'notOfferedByBank'>> {
      const abilities = (await registry.bankNamed(operation.terminal.bankId))?.knownAbilities();
      const missing = abilities && missingAbility(operation, abilities);
      return missing === undefined
        ? accept(undefined)
        : refuse('notOfferedByBank', { hint: notDeclared(missing) });
    },
    putSandboxTerminals: sandboxTerminals(db, { ...terminals, ...payouts }),
    holdsCharges,
    /** Whether the bank of the shop gets no charges that Mandate begins automatically. */
    async holdsChargesOf(shop: ShopName, now: Instant): Promise<boolean> {
      const bankId = await routing.homeOfCharges(shop, now);
      return bankId !== undefined && holdsCharges(bankId, now);
    },
    /** Of charges that Mandate began automatically. When too many fail, all nodes begin none at this bank for a time. */
    async hearCharge(heard: ChargeHeard): Promise<void> {
      const hold = brake.hear(heard);
      if (!hold) return;
      const { bankId } = heard;
      const now = clock.now();
      const until = instantAt(epochMsOf(now) + hold.forMs);
      const held = await db.run(holdCharges, { bank_id: bankId, now, until, because: hold.because });
      await registry.forget(bankId);
      if (held.length > 0) onHeld(bankId, hold.because, until);
    },
    /** Another installation may use its account too, so its report does not show what is lost here. */
    share: (id: string) => storeSharing(db, id, true),
    /** Those that this node sends nothing new. */
    away: () => health.away(),
    /** Asks each silent bank about an operation that never was, which changes nothing there. Its answer is heard like any other. */
    async probe() {
      const probes = health.toProbe().map(async (id) => {
        const bank = await registry.bankNamed(id);
        const operationId = `probe.${epochMsOf(clock.now())}`;
        await bank?.inquire({ operationId, terminal: terminalOfProbe(id) });
      });
      await Promise.all(probes);
    },
  };
}

function terminalOfProbe(bankId: string): Terminal {
  return { id: 'PROBE', bankId, merchantId: 'PROBE', descriptor: 'PROBE' };
}
