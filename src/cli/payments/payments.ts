// mandate payments: how an operator resolves stuck payments and refunds.
import { buildService } from '../../app/compose.ts';
import type { Foundation } from '../../app/composition/foundation.ts';
import { publicStatus } from '../../payments/domain/payment.ts';
import type { ManualOutcome } from '../../payments/domain/resolution.ts';
import { releaseHold, resolvePayment, type ResolutionDeps } from '../../payments/resolve-payment.ts';
import { requireReason, withFoundation } from '../foundation.ts';

export async function release(
  invoiceId: string,
  paymentId: string,
  { reason }: { reason: string },
): Promise<void> {
  requireReason(reason);
  await withTools((deps) => releaseHold(deps, { invoiceId, paymentId }, reason));
  console.log(
    `${invoiceId}/${paymentId} is being cancelled. A running node sends the release of the hold within a second.`,
  );
}

export async function resolve(
  invoiceId: string,
  paymentId: string,
  { as, reason }: { as: ManualOutcome; reason: string },
): Promise<void> {
  requireReason(reason);
  const { state } = await withTools((deps) => resolvePayment(deps, { invoiceId, paymentId }, as, reason));
  console.log(`Resolved ${invoiceId}/${paymentId}: the payment is ${publicStatus[state.name]}.`);
}

function withTools<T>(work: (deps: ResolutionDeps) => Promise<T>): Promise<T> {
  return withFoundation(async (foundation: Foundation) => {
    const { database: db, ports } = foundation;
    const { banks, charging, consents, receipts } = buildService(foundation);
    try {
      return await work({ db, clock: ports.clock, banks, charging, consents, receipts });
    } finally {
      await banks.stop();
    }
  });
}
