// Compares the bank's report with the exchange log: what the bank did was begun here first, and what is proved here is in its report.
import type { BookEntry } from '../../../src/acquiring/adapters/http/messages.ts';
import type { DatabasePool } from '../../../src/platform/database/database.ts';

type LoggedExchange = {
  readonly operation_id: string;
  readonly bank_id: string;
  readonly kind: string;
  readonly amount_minor: bigint | null;
  readonly state: string;
};

const readLog = `select aggregate_id || '.' || operation as operation_id, bank_id, kind, amount_minor, state from exchange`;

type Line = Pick<BookEntry, 'operationId' | 'kind' | 'amount' | 'originalOperationId'>;

/** One message for each difference. */
export async function exchangeDifferences(database: DatabasePool, book: readonly Line[]): Promise<string[]> {
  const { rows } = await database.withClient((client) => client.query<LoggedExchange>(readLog));
  return logDifferences(rows, book);
}

function logDifferences(log: readonly LoggedExchange[], book: readonly Line[]): string[] {
  const logged = new Map(log.map((one) => [one.operation_id, one]));
  const sent = book.filter(({ kind }) => kind !== 'return');
  const lines = new Map(sent.map((line) => [line.operationId, line]));
  const givenBack = new Set(
    sent
      .filter(({ kind }) => kind === 'reverse' || kind === 'refund')
      .map((line) => line.originalOperationId),
  );
  const late = new Set(
    sent.filter(({ operationId }) => /\.[fl]$/.test(operationId)).map((line) => line.originalOperationId),
  );
  return [
    ...sent.flatMap((line) => differenceOf(line, logged.get(line.operationId), late)),
    ...log.flatMap((one) => {
      const { operation_id: id, kind, state } = one;
      const isThere = lines.has(id);
      // A reversal of what the bank never saw is approved, and in no report.
      if (state === 'approved' && !isThere && kind !== 'reverse')
        return [`${id} is approved in the exchange log, and not in the bank's report`];
      if (state === 'takenBack' && isThere && !givenBack.has(id))
        return [`${id} is taken back in the exchange log, and stands in the bank's report`];
      return [];
    }),
  ];
}

/** `late`: approved after they were declined, and undone. */
function differenceOf(
  { operationId, kind, amount }: Line,
  one: LoggedExchange | undefined,
  late: ReadonlySet<string | undefined>,
): string[] {
  if (!one) return [`${operationId} is in the bank's report, and not in the exchange log`];
  const isOther = one.amount_minor !== null && Number(one.amount_minor) !== amount;
  if (one.kind !== kind || isOther)
    return [`${operationId} differs between the exchange log and the bank's report`];
  if (one.state === 'declined' && !late.has(operationId))
    return [`${operationId} is declined in the exchange log, and in the bank's report`];
  return [];
}
