// What came of the search as a table, and the document it stands in.
import type { PlantedFault } from './plant.ts';
import type { Found } from './search.ts';

export type Outcome = { readonly fault: PlantedFault; readonly found?: Found };

const heads = ['Planted fault', 'What it does', 'Found by', 'Seed', 'After operations'] as const;
const [begin, end] = ['<!-- planted faults -->', '<!-- end of planted faults -->'];

export function tableOf(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map(({ fault, found }) => [
    `\`${fault.name}\``,
    fault.says,
    found ? `\`${found.check}\`` : 'nothing',
    String(found?.seed ?? ''),
    String(found?.operations ?? ''),
  ]);
  const widths = heads.map((head, at) => Math.max(head.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const isNumber = (at: number) => at >= heads.length - 2;
  const line = (cells: readonly string[]) => {
    const padded = cells.map((cell, at) =>
      isNumber(at) ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0),
    );
    return `| ${padded.join(' | ')} |`;
  };
  const rule = widths.map((width, at) => (isNumber(at) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  return [line(heads), line(rule), ...rows.map(line)].join('\n');
}

/** The document with the table of these, between its two marks. */
export function withTable(document: string, outcomes: readonly Outcome[]): string {
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the document has no place between ${begin} and ${end}`);
  return `${document.slice(0, from + begin.length)}\n\n${tableOf(outcomes)}\n\n${document.slice(to)}`;
}
