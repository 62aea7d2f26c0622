// mandate bindings: verification refunds that a bank has not confirmed.
import {
  resolveVerificationRefund,
  listPendingVerificationRefunds,
} from '../../customers/store/verification-refunds.ts';
import { printTable, requireReason, withFoundation } from '../foundation.ts';
import { printJson } from '../json-members.ts';

export async function listRefunds(options: { json?: true }): Promise<void> {
  const list = await withFoundation(({ database, ports }) =>
    listPendingVerificationRefunds(database, ports.clock.now()),
  );
  const rows = list.map((refund) => ({ ...refund, amountMinor: Number(refund.amountMinor) }));
  if (options.json) return printJson('bindings refunds', rows);
  if (rows.length === 0) return console.log('The banks have confirmed every verification refund.');
  printTable(
    ['customer', 'binding', 'party', 'status', 'amount', 'due', 'overdue', 'stuck'],
    rows.map((refund) => [
      refund.customerId,
      refund.bindingId,
      refund.partyId,
      refund.status,
      `${refund.amountMinor} ${refund.currency}`,
      refund.refundDueAt.slice(0, 19),
      refund.isOverdue ? 'yes' : '',
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
  requireReason(reason);
  const isResolved = await withFoundation(({ database, ports }) =>
    resolveVerificationRefund(database, ports.clock, { customerId, bindingId }, reason),
  );
  if (!isResolved)
    throw new Error(
      `Binding ${customerId}/${bindingId} has no pending verification refund. List them with "mandate bindings refunds".`,
    );
  console.log(
    `Resolved ${customerId}/${bindingId}: the binding has failed, and the refund is posted in the ledger.`,
  );
}
