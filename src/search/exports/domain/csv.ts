// Writes comma-separated values (RFC 4180) that a spreadsheet shows as they are: no text of a merchant, a payer or a bank becomes a formula.

/** `text` is what others have chosen. A `fact` is a number, a time, an ID or a word of the service. */
export type Cell = { readonly text: string } | { readonly fact: string };
export type Delimiter = ',' | ';';

export const byteOrderMark = '\uFEFF';

export function csvLine(cells: readonly Cell[], delimiter: Delimiter): string {
  return `${cells.map((cell) => quoted(shownAs(cell), delimiter)).join(delimiter)}\r\n`;
}

/** Where a spreadsheet that splits the file at another delimiter, or takes quotes literally, could find the beginning of a formula. */
const beforeFormula = /^(?=[\t\r\n])|(?<=^|[,;\t\r\n"])(?=[^\S\t\r\n]*[=+\-@])/g;

/** An apostrophe tells a spreadsheet that a text follows. */
function shownAs(cell: Cell): string {
  return 'fact' in cell ? cell.fact : cell.text.replace(beforeFormula, "'");
}

function quoted(shown: string, delimiter: Delimiter): string {
  const needsQuotes = shown.includes(delimiter) || /["\r\n]/.test(shown);
  return needsQuotes ? `"${shown.replaceAll('"', '""')}"` : shown;
}

/** As in `12.50`: with a point, whatever the language. */
export function decimalText(minor: bigint, decimals: number): string {
  if (decimals === 0) return String(minor);
  const sign = minor < 0n ? '-' : '';
  const digits = String(minor < 0n ? -minor : minor).padStart(decimals + 1, '0');
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
