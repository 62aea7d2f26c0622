// Cuts CSV into records as it streams by: a heading with names, then a line for each record; commas or semicolons, quotes
// where there must be some, no line breaks within a field. Empty fields are left out.
import type { Scanner } from './report-file.ts';

/** Columns that are numbers. */
const numbers = ['sequence', 'amount', 'sign'];
const maxCharacters = 64 * 1024;

export function openCsvScanner(): Scanner {
  let heading: readonly string[] | undefined;
  let separator = ',';
  let rest = '';

  function recordOf(line: string): unknown[] {
    if (line.trim() === '') return [];
    if (!heading) {
      separator = line.includes(';') ? ';' : ',';
      heading = fieldsOf(line, separator);
      if (!heading.includes('operationId')) throw new Error('it has no heading with the name operationId');
      return [];
    }
    const fields = fieldsOf(line, separator);
    if (fields.length !== heading.length) return [undefined];
    const named = heading.map((name, place) => [name, valueOf(name, fields[place] ?? '')] as const);
    return [Object.fromEntries(named.filter(([, value]) => value !== ''))];
  }

  return {
    push(piece) {
      const lines = (rest + piece).split(/\r?\n/);
      rest = lines.pop() ?? '';
      if (rest.length > maxCharacters) throw new Error('it has a line that is too long for an entry');
      return lines.flatMap(recordOf);
    },
    end() {
      if (rest.trim() !== '') throw new Error('its last line has no end; was it cut off?');
    },
  };
}

function valueOf(name: string, text: string): string | number {
  return numbers.includes(name) && /^[+-]?\d{1,15}$/.test(text) ? Number(text) : text;
}

function fieldsOf(line: string, separator: string): string[] {
  const field = new RegExp(`(?:"((?:[^"]|"")*)"|([^"${separator}]*))(${separator}|$)`, 'y');
  const fields: string[] = [];
  for (let end = separator; end === separator;) {
    const match = field.exec(line);
    if (!match) throw new Error('it has a line whose quotes do not match');
    const [, quoted, plain = '', after = ''] = match;
    fields.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'));
    end = after;
  }
  return fields;
}
