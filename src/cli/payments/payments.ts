// mandate payments: what an operator does about payments that wait for him.
import { buildService, type Foundation } from '../../app/compose.ts';
import { publicStatus } from '../../payments/domain/payment.ts';
import { releaseHold, resolvePayment, type ResolutionDeps } from '../../payments/resolve-payment.ts';
import { requireReason, withFoundation } from '../foundation.ts';

const endings = ['captured', 'cancelled', 'failed', 'succeeded'] as const;

export async function release(
  invoiceId: string,
  paymentId: string,
  { reason }: { reason: string },
): Promise<void> {
  requireReason(reason);
  await withTools((deps) => releaseHold(deps, { invoiceId, paymentId }, reason));
  console.log(
    `${invoiceId}/${paymentId} is being cancelled: a running node has the bank let the hold go within a second.`,
  );
}

export async function resolve(
  invoiceId: string,
  paymentId: string,
  { as, reason }: { as: string; reason: string },
): Promise<void> {
  requireReason(reason);
  const ending = endings.find((known) => known === as);
  if (!ending) throw new Error(`it ends --as ${endings.join(', ')}; which of them, depends on what is open`);
  const { state } = await withTools((deps) => resolvePayment(deps, { invoiceId, paymentId }, ending, reason));
  console.log(`${invoiceId}/${paymentId} is resolved: the payment is ${publicStatus[state.name]}.`);
}

function withTools<T>(work: (deps: ResolutionDeps) => Promise<T>): Promise<T> {
  return withFoundation(async (foundation: Foundation) => {
    const { database: db, ports } = foundation;
    const { banks, recurring } = buildService(foundation);
    try {
      return await work({ db, clock: ports.clock, banks, recurring });
    } finally {
      await banks.stop();
    }
  });
}
