// mandate bindings: the test charges payers have not back yet, and the end of one by an operator's hand.
import { closeOwedReturn, listOwedReturns } from '../../customers/store/verification-refunds.ts';
import { printTable, withFoundation } from '../foundation.ts';

export async function listOwed(options: { json?: true }): Promise<void> {
  const list = await withFoundation(({ database, ports }) => listOwedReturns(database, ports.clock.now()));
  const rows = list.map((owed) => ({ ...owed, amountMinor: Number(owed.amountMinor) }));
  if (options.json) return console.log(JSON.stringify(rows, null, 2));
  if (rows.length === 0) return console.log('Nothing is owed: every test charge is back with its payer.');
  printTable(
    ['customer', 'binding', 'party', 'state', 'amount', 'by', 'late', 'stuck'],
    rows.map((owed) => [
      owed.customerId,
      owed.bindingId,
      owed.partyId,
      owed.status,
      `${owed.amountMinor} ${owed.currency}`,
      owed.refundDueAt.slice(0, 19),
      owed.isOverdue ? 'late' : '',
      owed.stuckReason ?? '',
    ]),
  );
}

export async function closeOwed(
  customerId: string,
  bindingId: string,
  options: { reason: string },
): Promise<void> {
  const { reason } = options;
  if (reason.trim() === '')
    throw new Error('say why: who has made sure that the payer has his money, and how');
  const closed = await withFoundation(({ database, ports }) =>
    closeOwedReturn(database, ports.clock, { customerId, bindingId }, reason),
  );
  if (!closed)
    throw new Error(`nothing is owed for ${customerId}/${bindingId}; mandate bindings owed shows what is`);
  console.log(
    `${customerId}/${bindingId} is closed: the binding has failed, and the books say the sum is back.`,
  );
}
