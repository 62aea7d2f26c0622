// The lines of an export: a heading, then a line for each row. Columns are named as in the API.
import { epochMsOf, instantAt, type Instant } from '../../clock.ts';
import { decimalsOf, isKnownCurrency } from '../../money.ts';
import { offsetMsAt } from '../../retry-rules/domain/time-zones.ts';
import { byteOrderMark, csvLine, decimalText, type Cell } from './domain/csv.ts';
import type { ExportTerms } from './domain/export.ts';
import type { ColumnKind, ExportedRow, ExportedValue, ExportSource } from './source.ts';

/** Follow the creation and precede what the kind has. */
const timeColumns = ['createdAt', 'createdAtLocal'];
const moneyColumns = ['currency', 'exponent'];

/** All columns that a file can have, in the order in which it has them if none are chosen. */
export function columnNames({ columns }: Pick<ExportSource, 'columns'>): readonly string[] {
  return [
    ...timeColumns,
    ...Object.entries(columns).flatMap(([name, kind]) =>
      kind === 'amount' ? [name, `${name}Decimal`] : [name],
    ),
    ...moneyColumns,
  ];
}

export function exportLines(
  source: Pick<ExportSource, 'columns'>,
  { delimiter, hasByteOrderMark, timeZone, columns }: ExportTerms,
) {
  const localTime = localTimes(timeZone);
  const kinds = Object.entries(source.columns);
  const all = columnNames(source);
  const names = columns ?? all;
  const places = names.map((name) => all.indexOf(name));
  const heading = csvLine(
    names.map((fact) => ({ fact })),
    delimiter,
  );

  function lineOf({ createdAt, currency, values }: ExportedRow): string {
    const decimals = currency !== null && isKnownCurrency(currency) ? decimalsOf(currency) : undefined;
    const cells = [
      { fact: createdAt },
      { fact: localTime(createdAt) },
      ...kinds.flatMap(([name, kind]) => cellsOf(values[name] ?? null, kind, decimals)),
      { fact: currency ?? '' },
      { fact: String(decimals ?? '') },
    ];
    return csvLine(
      places.map((place) => cells[place] ?? { fact: '' }),
      delimiter,
    );
  }

  return {
    heading: (hasByteOrderMark ? byteOrderMark : '') + heading,
    linesOf: (rows: readonly ExportedRow[]) => rows.map(lineOf).join(''),
  };
}

function cellsOf(value: ExportedValue, kind: ColumnKind, decimals: number | undefined): readonly Cell[] {
  const shown = value === null ? '' : String(value);
  if (kind === 'text') return [{ text: shown }];
  if (kind === 'fact') return [{ fact: shown }];
  const decimal = typeof value === 'bigint' && decimals !== undefined ? decimalText(value, decimals) : '';
  return [{ fact: shown }, { fact: decimal }];
}

/** No zone changes its clocks within one. */
const quarterMs = 900_000;

/** Rows next to each other are of the same quarter of an hour, mostly. */
function localTimes(timeZone: string): (instant: Instant) => string {
  let known = { quarter: Number.NaN, offsetMs: 0 };
  return (instant) => {
    const ms = epochMsOf(instant);
    const quarter = Math.floor(ms / quarterMs);
    if (known.quarter !== quarter) known = { quarter, offsetMs: offsetMsAt(instant, timeZone) };
    return `${instantAt(ms + known.offsetMs).slice(0, 19)}${offsetText(known.offsetMs)}`;
  };
}

function offsetText(offsetMs: number): string {
  const minutes = Math.round(Math.abs(offsetMs) / 60_000);
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((part) =>
    String(part).padStart(2, '0'),
  );
  return `${offsetMs < 0 ? '-' : '+'}${hour}:${minute}`;
}
