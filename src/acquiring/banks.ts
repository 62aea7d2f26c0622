// The banks as the service uses them: the registry, the routing of payments and payouts, and what is known of their health.
import { epochMsOf } from '../clock.ts';
import { accept, refuse, type Outcome } from '../refusal.ts';
import { openHeldCharges, type HeldChargesOptions } from './health/held-charges.ts';
import { openBankHealth, type AwayBank } from './health/bank-health.ts';
import { openBankRegistry, type BankRegistryOptions } from './bank-registry.ts';
import type { BankOperation, Terminal } from './domain/bank-port.ts';
import { missingAbility } from './domain/missing-ability.ts';
import { storeSharing } from './exchange-log/store/watched-banks.ts';
import { sandboxTerminals } from './routing/sandbox-terminals.ts';
import { openAcceptedNetworks } from './routing/accepted-networks.ts';
import { openChargeRouting } from './routing/charge-routing.ts';
import { openPayoutRouting } from './routing/payout-routing.ts';
import { openShopTerminals, type ShopTerminalsOptions } from './routing/shop-terminals.ts';
import { notDeclared } from './routing/terminal-rows.ts';
import { openTerminalHolds } from './routing/terminal-holds.ts';
import { openUsableTerminals } from './routing/usable-terminals.ts';

export type Banks = ReturnType<typeof openBanks>;
export type { BankSettings } from './bank-secret.ts';
export type { TerminalRefusal } from './routing/terminal-rows.ts';

type BanksOptions = BankRegistryOptions &
  ShopTerminalsOptions &
  HeldChargesOptions & {
    /** Tells the operator that a bank has gone away, or is back. */
    readonly onHealth: (bank: AwayBank, is: 'away' | 'back') => void;
  };

export function openBanks(options: BanksOptions) {
  const { db, clock, onHealth } = options;
  const health = openBankHealth(() => epochMsOf(clock.now()), onHealth);
  const registry = openBankRegistry(options, health);
  const usable = openUsableTerminals(registry, health);
  const { inUse, ...terminals } = openShopTerminals(options);
  const { holdingAlike, ...holdDays } = openTerminalHolds(options, usable);
  const payouts = openPayoutRouting(options, usable);
  const routing = openChargeRouting({ inUse, holdingAlike }, usable);

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
    ...openHeldCharges(options, registry, routing),
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
