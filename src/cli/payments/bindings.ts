// mandate bindings: the verification refunds a bank has not confirmed, and how an operator resolves one.
import {
  resolveVerificationRefund,
  listPendingVerificationRefunds,
} from '../../customers/store/verification-refunds.ts';
import { printTable, withFoundation } from '../foundation.ts';

export async function listRefunds(options: { json?: true }): Promise<void> {
  const list = await withFoundation(({ database, ports }) =>
    listPendingVerificationRefunds(database, ports.clock.now()),
  );
  const rows = list.map((refund) => ({ ...refund, amountMinor: Number(refund.amountMinor) }));
  if (options.json) return console.log(JSON.stringify(rows, null, 2));
  if (rows.length === 0) return console.log('Every verification charge is back with its payer.');
  printTable(
    ['customer', 'binding', 'party', 'state', 'amount', 'by', 'late', 'stuck'],
    rows.map((refund) => [
      refund.customerId,
      refund.bindingId,
      refund.partyId,
      refund.status,
      `${refund.amountMinor} ${refund.currency}`,
      refund.refundDueAt.slice(0, 19),
      refund.isOverdue ? 'late' : '',
      refund.stuckReason ?? '',
    ]),
  );
}

export async function resolveBinding(
  customerId: string,
  bindingId: string,
  options: { reason: string },
): Promise<void> {
  const { reason } = options;
  if (reason.trim() === '') throw new Error('say why: how you know that the payer has the money back');
  const isResolved = await withFoundation(({ database, ports }) =>
    resolveVerificationRefund(database, ports.clock, { customerId, bindingId }, reason),
  );
  if (!isResolved)
    throw new Error(
      `${customerId}/${bindingId} has no pending verification refund; list them with mandate bindings refunds`,
    );
  console.log(
    `${customerId}/${bindingId} is resolved: the binding has failed, and the ledger says the amount is back.`,
  );
}
