// What an update of a bank changes, by the module that the operation belongs to.
import type { OperationUpdate, UpdateOutcome } from '../../acquiring/domain/bank-updates.ts';
import type { Clock } from '../../clock.ts';
import { bindingOfOperation } from '../../customers/domain/binding.ts';
import { applyUpdate as applyToPayment } from '../../payments/updates/apply-update.ts';
import { applyUpdate as applyToWithdrawal } from '../../payouts/apply-update.ts';
import { withdrawalOfOperation } from '../../payouts/domain/withdrawal.ts';
import type { Database } from '../../platform/database/database.ts';
import { paymentOfOperation } from '../../payments/domain/payment.ts';
import type { Logger } from '../../platform/log.ts';
import { refundReturned } from '../../subscriptions/refund-at-end.ts';
import { takeBack } from '../../subscriptions/take-back.ts';
import type { WriteDeps } from '../../subscriptions/write-facts.ts';

type Deps = WriteDeps & {
  readonly clock: Clock;
  readonly livemode: boolean;
  readonly log: Pick<Logger, 'error'>;
};

/** In the transaction that notes the update. */
export async function applyUpdate(
  { clock, livemode, log, ...deps }: Deps,
  tx: Database,
  update: OperationUpdate,
): Promise<UpdateOutcome> {
  const { operationId } = update;
  if (withdrawalOfOperation(operationId))
    return applyToWithdrawal({ db: tx, livemode, log }, update, clock.now());
  if (bindingOfOperation(operationId)) return ofBinding(update, log);
  const applied = await applyToPayment({ db: tx, log }, update, clock.now());
  const [invoiceId] = paymentOfOperation(operationId) ?? [];
  if (invoiceId === undefined || applied.outcome !== 'applied') return applied;
  if (update.what === 'captureFailed') await takeBack(tx, invoiceId, clock.now(), deps);
  if (update.what === 'refundFailed') await refundReturned(tx, invoiceId, clock.now(), deps);
  return applied;
}

/** A verification charge has no updates of its own: what is not refunded in the end, an operator sends to the payer. */
function ofBinding({ operationId, what }: OperationUpdate, log: Deps['log']): UpdateOutcome {
  if (what === 'networkIds' || what === 'holdEnded') return { outcome: 'nothing' };
  const why = 'it is about the verification charge of a saved card';
  log.error({ operationId, what, why }, 'bank update needs an operator');
  return { outcome: 'contradiction', why };
}
