// All planted faults, each with the theme of the worlds that search for it.
import {
  holdsAndRefunds,
  payouts,
  recurring,
  subscriptions,
  webhooks,
  type Theme,
} from '../clients/themes.ts';
import type { Fault, Faults } from './fault.ts';
import { faultsOfBatches, faultsOfNeighbours } from './batches.ts';
import { faultsOfBegunPayments } from './begun-payments.ts';
import { faultsOfHoldsAndRefunds } from './holds-and-refunds.ts';
import { faultsOfLists } from './lists.ts';
import { faultsOfPayouts } from './payouts.ts';
import { faultsOfRecurringCharges } from './recurring-charges.ts';
import { faultsOfSubscriptions } from './subscriptions.ts';
import { faultsOfWebhooks } from './webhooks.ts';

export type PlantedFault = Fault & { readonly name: string; readonly theme: Theme };

export const plantedFaults: readonly PlantedFault[] = [
  ...soughtIn(holdsAndRefunds, faultsOfHoldsAndRefunds),
  ...soughtIn(holdsAndRefunds, faultsOfLists),
  ...soughtIn(payouts, faultsOfPayouts),
  ...soughtIn(recurring, faultsOfBatches),
  ...soughtIn(recurring, faultsOfRecurringCharges),
  ...soughtIn(subscriptions, faultsOfNeighbours),
  ...soughtIn(subscriptions, faultsOfSubscriptions),
  ...soughtIn(webhooks, faultsOfWebhooks),
  // Those worlds begin payments and bindings throughout. Worlds of holds have most of them before the first fault.
  ...soughtIn(webhooks, faultsOfBegunPayments),
].sort((a, b) => (a.name < b.name ? -1 : 1));

function soughtIn(theme: Theme, faults: Faults): PlantedFault[] {
  return Object.entries(faults).map(([name, fault]) => ({ ...fault, name, theme }));
}
