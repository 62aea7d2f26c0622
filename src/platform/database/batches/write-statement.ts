// A statement that writes changes of many callers at once. It has one text, which reads the changes from one list.
import { statement, typeOf, type Column, type Columns, type Statement } from '../statement.ts';

export type WriteStatement<Change extends Columns = Columns, Row extends Columns = Columns> = Statement<
  Change,
  Row
> & { readonly together: Statement; readonly writes: true; readonly leavesOut: LeavesOut };

/** `taken`: changes whose name is taken. `held`: also those whose rows another transaction holds or has changed. */
export type LeavesOut = 'taken' | 'held';

/**
 * The text takes the list `:changes`, writes each change whole or not at all, and returns a row with its `asker` for each written one.
 * With `held` it waits for a row of another transaction only if its change has "mayWait", which is then alone.
 */
export function writeStatement<const Change extends Columns, const Row extends Columns>(definition: {
  name: string;
  change: Change;
  row: Row;
  leavesOut: LeavesOut;
  text: string;
}): WriteStatement<Change, Row> {
  const { name, change, row, leavesOut, text } = definition;
  const together = statement({
    name,
    parameters: { changes: 'json' },
    row: { asker: 'int4', ...row },
    text,
  });
  const { codecs } = together;
  return {
    name,
    text: together.text,
    parameterNames: Object.keys(change),
    parameters: change,
    row,
    codecs,
    together,
    writes: true,
    leavesOut,
  };
}

/** The changes as rows, for a text that reads them itself. */
export function changesOf(change: Columns): string {
  const columns = Object.entries<Column>(change).map(
    ([name, type]) => `${name} ${typeOf(type).replace('?', '')}`,
  );
  return `json_to_recordset(:changes) as change (asker int4, ${columns.join(', ')})`;
}

export function isWriteStatement<P extends Columns, R extends Columns>(
  one: Statement<P, R>,
): one is WriteStatement<P, R> {
  return one.writes === true;
}
