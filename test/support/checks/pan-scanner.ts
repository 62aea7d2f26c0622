// Searches every column of a database, log lines and any text for card numbers and security codes, also encoded or with separators. Its
// reports are masked, so that a failing test leaks nothing.
import type { DatabasePool } from '../../../src/platform/database/database.ts';
import { passesLuhn, paymentSystemOf } from '../../../src/cards/domain/card.ts';
import { maskCardNumbers } from '../../../src/platform/log.ts';

export type Secrets = {
  readonly cardNumbers?: readonly string[];
  /** Found as separate words: choose codes that are not a status or a year. */
  readonly securityCodes?: readonly string[];
};

export type Finding = {
  readonly where: string;
  readonly what: 'a card number' | 'a security code';
  readonly excerpt: string;
};

/** Every table of every schema of the service, unlogged ones too, column by column. */
export async function scanDatabase(database: DatabasePool, secrets: Secrets = {}): Promise<Finding[]> {
  return database.withClient(async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', nspname, relname) as name from pg_class join pg_namespace as n on n.oid = relnamespace
       where relkind in ('r', 'p', 'm') and nspname !~ '^(pg_|information_schema)' order by 1`,
    );
    const findings: Finding[] = [];
    for (const { name } of tables) {
      const { rows, fields } = await client.query<unknown[]>({
        text: `select * from ${name}`,
        rowMode: 'array',
      });
      for (const [place, row] of rows.entries()) {
        for (const [column, value] of row.entries()) {
          if (value === null) continue;
          const where = `${name}.${fields[column]!.name}, row ${place + 1}`;
          findings.push(
            ...(Buffer.isBuffer(value)
              ? scanBytes(where, value, secrets)
              : scanText(where, textOf(value), secrets)),
          );
        }
      }
    }
    return findings;
  });
}

export function scanLines(where: string, lines: readonly string[], secrets: Secrets = {}): Finding[] {
  return lines.flatMap((line, place) => scanText(`${where}, line ${place + 1}`, line, secrets));
}

/** Values that can be written as JSON: facts of events, responses. */
export function scanValues(where: string, values: readonly unknown[], secrets: Secrets = {}): Finding[] {
  return scanLines(where, values.map(textOf), secrets);
}

export function scanBytes(where: string, bytes: Buffer, secrets: Secrets = {}): Finding[] {
  const packed = (secrets.cardNumbers ?? []).filter((number) => bytes.includes(packedDecimal(number)));
  const text = bytes.toString('latin1');
  return unique([
    ...packed.map((number) => found(where, 'a card number', number)),
    ...scanText(where, text, secrets),
  ]);
}

export function scanText(where: string, text: string, secrets: Secrets = {}): Finding[] {
  const findings: Finding[] = [];
  for (const reading of readingsOf(text)) {
    for (const run of cardNumbersIn(reading)) findings.push(found(where, 'a card number', run));
    const bare = reading.replace(separator, '');
    for (const number of secrets.cardNumbers ?? []) {
      if (bare.includes(number)) findings.push(found(where, 'a card number', number));
    }
    for (const code of secrets.securityCodes ?? []) {
      // Not inside a longer number, a time or a decimal fraction.
      if (new RegExp(`(?<!\\w|\\d[.:+-])${code}(?!\\w|[.:-]\\d)`).test(reading)) {
        findings.push({ where, what: 'a security code', excerpt: `${reading.length} characters` });
      }
    }
  }
  return unique(findings);
}

const separator = /[\s.\-_/]/g;
const digitRun = /\d(?:[\s.\-_/]?\d){11,}/g;
/** Digests and keys, in which digits stand by chance. */
const hexWord = /\b(?=\d*[a-f])[0-9a-f]{32,}\b/gi;

/** Every run of digits that could be, or contain, a card number. */
function cardNumbersIn(text: string): string[] {
  return [...text.replace(hexWord, ' ').matchAll(digitRun)].flatMap(([run]) => {
    // With separators a run may include its neighbours; without them, a longer number is not a card number.
    const parts = run.split(separator);
    const candidates = [run.replace(separator, ''), ...parts];
    return candidates.filter(isCardNumber);
  });
}

function isCardNumber(digits: string): boolean {
  return /^\d{12,19}$/.test(digits) && paymentSystemOf(digits) !== undefined && passesLuhn(digits);
}

const readingsDeep = 3;

/** The text, and what it decodes to from JSON escapes, URL encoding, base64 and hex, also nested. */
function readingsOf(text: string, deep = readingsDeep): string[] {
  if (deep === 0) return [text];
  const further = [unescaped(text), urlDecoded(text), ...base64Decoded(text), ...hexDecoded(text)].filter(
    (other) => other !== text,
  );
  return [text, ...further.flatMap((other) => readingsOf(other, deep - 1))];
}

function unescaped(text: string): string {
  return text.replace(/\\u([0-9a-f]{4})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

function urlDecoded(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** A run may begin before the encoded text does, so it tries each of the four alignments. */
function base64Decoded(text: string): string[] {
  return [...text.matchAll(/[A-Za-z0-9+/_-]{4,}/g)].flatMap(([run]) =>
    [0, 1, 2, 3].flatMap((skipped) => readableIn(Buffer.from(run.slice(skipped), 'base64'))),
  );
}

function hexDecoded(text: string): string[] {
  return [...text.matchAll(/[0-9a-f]{6,}/gi)].flatMap(([run]) =>
    [0, 1].flatMap((skipped) => readableIn(Buffer.from(run.slice(skipped), 'hex'))),
  );
}

/** The parts that are text: all of it, or the longer stretches. Encrypted bytes have almost none. */
function readableIn(bytes: Buffer): string[] {
  const text = bytes.toString('latin1');
  return /^[\x20-\x7e\s]{3,}$/.test(text) ? [text] : (text.match(/[\x20-\x7e\s]{8,}/g) ?? []);
}

function packedDecimal(number: string): Buffer {
  return Buffer.from(number.length % 2 === 0 ? number : `0${number}`, 'hex');
}

function textOf(value: unknown): string {
  return typeof value === 'string'
    ? value
    : JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? String(member) : member));
}

function found(where: string, what: Finding['what'], number: string): Finding {
  const masked = maskCardNumbers(number);
  return { where, what, excerpt: masked === number ? `${number.slice(0, 6)}…` : masked };
}

function unique(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()];
}
