// The results of the search as a table, and the document that contains it. Seeds are printed and not kept there: another client in the
// simulation changes every world.
import type { PlantedFault } from './faults.ts';
import type { Found } from './search.ts';

export type Outcome = { readonly fault: PlantedFault; readonly found?: Found };

const heads = ['Planted fault', 'What it does', 'Found by'] as const;
const [begin, end] = ['<!-- planted faults -->', '<!-- end of planted faults -->'];

type Row = readonly string[];

export function tableOf(outcomes: readonly Outcome[]): string {
  return tableWith(outcomes.map(rowOf));
}

function rowOf({ fault, found }: Outcome): Row {
  return [`\`${fault.name}\``, fault.does, found ? `\`${found.check}\`` : 'nothing'];
}

function tableWith(rows: readonly Row[]): string {
  const widths = heads.map((head, at) => Math.max(head.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const rule = widths.map((width) => '-'.repeat(width));
  return [line(heads), line(rule), ...rows.map(line)].join('\n');
}

/** Renews the rows of these outcomes between the marks; the other faults in `there` keep their rows. */
export function withTable(document: string, outcomes: readonly Outcome[], there: readonly string[]): string {
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`The document has no table: add ${begin} and ${end}`);
  const sought = new Map(outcomes.map((outcome) => [outcome.fault.name, rowOf(outcome)] as const));
  const before = rowsIn(document.slice(from + begin.length, to));
  const rows = there.flatMap((name) => {
    const row = sought.get(name) ?? before.get(name);
    return row ? [row] : [];
  });
  return `${document.slice(0, from + begin.length)}\n\n${tableWith(rows)}\n\n${document.slice(to)}`;
}

function rowsIn(table: string): Map<string, Row> {
  return new Map(
    [...table.matchAll(/^\| `([^`]+)` .*$/gm)].map(([line, name = '']) => [
      name,
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    ]),
  );
}
