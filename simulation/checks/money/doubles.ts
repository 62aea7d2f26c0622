// By the bank's report alone, no card is charged, credited or paid out to twice.
// Each operation is there once, each object has one charge, and no more is refunded than was charged.
import { groupedBy } from '../rows.ts';
import type { Check, Problem } from '../check.ts';
import type { BankEntry } from '../world.ts';

export const doubles: Check = {
  name: 'doubles',
  says: 'the bank did each operation once, charged an object once, and refunded no more than it charged',
  find: ({ bank }) => {
    const lines = [...bank.values()].flat();
    return [
      ...[...groupedBy(lines, ({ operationId }) => operationId)].flatMap(([id, same]): Problem[] =>
        same.length === 1 ? [] : [[id, `the bank did it ${same.length} times`]],
      ),
      ...[...groupedBy(lines, nameOf)].flatMap(([name, own]): Problem[] =>
        chargesIn(own)
          .flatMap(problemsOf)
          .map((problem) => [name, problem] as const),
      ),
      ...[
        ...groupedBy(
          lines.filter(({ operationId: id }) => isOfInvoice(id)),
          ({ operationId: id }) => id.split('.')[0]!,
        ),
      ].flatMap(([invoice, own]): Problem[] => {
        const kept = [...groupedBy(own, nameOf).values()].filter((one) => takenBy(one) > 0);
        return kept.length > 1 ? [[`invoice ${invoice}`, `${kept.length} payments of it took money`]] : [];
      }),
    ];
  },
};

/** The simulated bank approves the charge before a step-up of such amounts later. The check `bank` sees that it is undone. */
function chargesIn(own: readonly BankEntry[]): BankEntry[][] {
  const isFirst = ({ operationId, amount }: BankEntry) =>
    amount % 100_000 === 99_945 && /\.[af]$/.test(operationId);
  if (!own.some(({ operationId }) => operationId.endsWith('.s'))) return [[...own]];
  return [own.filter(isFirst), own.filter((line) => !isFirst(line))];
}

function problemsOf(lines: readonly BankEntry[]): string[] {
  const count = (kind: BankEntry['kind']) => lines.filter((line) => line.kind === kind).length;
  // A capture or a refund that has failed later has gone back as well.
  const returned = lines.filter(
    (line) => line.kind === 'return' && !line.operationId.endsWith('.failed'),
  ).length;
  const charges =
    lines.filter(({ kind, sign }) => kind === 'authorise' && sign === 1).length + count('capture');
  return [
    ...(charges > 1 ? [`the card was charged ${charges} times`] : []),
    ...(count('authorise') > 1 ? ['it was authorised more than once'] : []),
    ...(count('payout') > 1 ? ['it was paid out more than once'] : []),
    ...(returned > count('payout') ? ['more came back than was paid out'] : []),
    ...(count('payout') === 0 && takenBy(lines) < 0
      ? [`${-takenBy(lines)} more was refunded than charged`]
      : []),
  ];
}

/** What the payer has paid: charges and captures less refunds and reversals. */
function takenBy(lines: readonly BankEntry[]): number {
  return lines.reduce((sum, { sign, amount }) => sum + sign * amount, 0);
}

/** A payment's operation ID has a number in second place; a payout's has none. */
function isOfInvoice(operationId: string): boolean {
  return /^\d+$/.test(operationId.split('.')[1] ?? '');
}

function nameOf({ operationId }: BankEntry): string {
  return operationId.split('.').slice(0, 2).join('.');
}
