// Searches every table for card numbers and security codes: plain, in base64 at any alignment, or as bytes.
// The vault encrypts them, so no table is left out.
import type { Problem } from './check.ts';
import type { CheckWorld } from './world.ts';

/** Every card number that worlds and tests use. */
const cardNumbers = [
  '2201382000000013',
  '2222405343248877',
  '2222990905257051',
  '2223007648726984',
  '2223577120017656',
  '4000000000000002',
  '4000000000000069',
  '4000000000005704',
  '4003830171874018',
  '4012888888881881',
  '4111110000000112',
  '4111111111111111',
  '4222222222222220',
  '4242424242424242',
  '4300000000000777',
  '4342561111111118',
  '4556418324571052',
  '4556724110260093',
  '4929172190150505',
  '4987654321098769',
  '5000000000000009',
  '5100000000000412',
  '5100000000000511',
  '5105105105105100',
  '5112000200000002',
  '5123456789012346',
  '5124990000000002',
  '5169147129584558',
  '5496198584584769',
  '5555555555554444',
  '586824160825533338',
];

const formsOf = (number: string) => [
  number,
  ...[0, 1, 2].map((before) => base64Inside(number, before)),
  Buffer.from(number).toString('hex'),
];

/** The part of a base64 text that depends on the number alone, after this many bytes. */
function base64Inside(number: string, before: number): string {
  const text = Buffer.from('\0'.repeat(before) + number).toString('base64');
  const from = before === 0 ? 0 : before === 1 ? 2 : 3;
  return text.slice(from, Math.floor(((before + number.length) * 8) / 6)).replaceAll('+', '\\+');
}

const number = new RegExp([...new Set(cardNumbers.flatMap(formsOf))].join('|'));
/** A row cast to text doubles each quotation mark. */
const code = /"(cvv|cvv2|cvc|securityCode|security_code)"+ *: *"*[0-9]{3,4}/i;

const readTables = `
  select format('%I.%I', nspname, relname) as name from pg_class join pg_namespace as space on space.oid = relnamespace
  where relkind in ('r', 'p', 'm') and nspname !~ '^(pg_|information_schema)' order by 1`;

/** Searches in this process: PostgreSQL takes longer to match so many alternatives than to send the text. */
export async function cardNumbersFound(query: CheckWorld['query']): Promise<Problem[]> {
  const tables = await query(readTables);
  const texts = tables.map(
    ({ name }, place) =>
      `select ${place} as place, string_agg(row::text, chr(30)) as rows from ${name} as row having count(*) > 0`,
  );
  const problems: Problem[] = [];
  for (const { place, rows } of await query(texts.join(' union all '))) {
    const lines = String(rows).split('\x1e');
    const about = String(tables[Number(place)]?.['name']);
    const numbers = lines.filter((line) => number.test(line)).length;
    const codes = lines.filter((line) => code.test(line) && !number.test(line)).length;
    if (numbers > 0) problems.push([about, `${numbers} of its rows have a card number`]);
    if (codes > 0) problems.push([about, `${codes} of its rows have a security code`]);
  }
  return problems;
}
