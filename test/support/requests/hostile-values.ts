// What an attacker sends instead of a value, and ways to spoil a right body.
import fc from 'fast-check';

/** Stands for text that JSON.stringify cannot write: numbers beyond JavaScript's, duplicate members. */
const raw = (text: string) => `@raw:${text}@`;
const rawText = /"@raw:((?:[^@\\]|\\.)*)@"/g;

const texts = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\udfff\ud800',
  '\u202egnirts',
  '\ufeff',
  '\u0301'.repeat(50),
  '😀'.repeat(41),
  'ﷺ'.repeat(101),
  'null',
  'undefined',
  'NaN',
  '__proto__',
  'constructor',
  '../..',
  '../../../etc/passwd',
  '%00',
  '%s%s%n',
  '${7*7}{{7*7}}',
  "'; drop table invoice; --",
  '\\',
  '"',
  '\r\nSet-Cookie: a=b',
  '<script>alert(1)</script>',
  '-1',
  '1e9999',
  '0x41',
  '2026-02-30T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999999999Z',
  '9999-12-31T23:59:59-23:59',
  '0000-12-31T23:59:60+23:59',
  `${'a'.repeat(50)}!`,
  'x'.repeat(41),
  'x'.repeat(101),
  'x'.repeat(1_001),
  'x'.repeat(5_000),
  'é'.repeat(60_000),
];

const numbers = [
  0,
  -0,
  -1,
  1.5,
  5e-324,
  1e12,
  999_999_999_999,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  1e308,
  ...['9007199254740993', '18446744073709551616', '1e400', '-1e400', '1E+2', '100.0', '-0.0', '1e-400'].map(
    raw,
  ),
];

const structures: unknown[] = [
  null,
  true,
  false,
  [],
  {},
  [[]],
  [null],
  { length: 1 },
  { toJSON: 1, then: 1, constructor: 1, valueOf: null },
  Array.from({ length: 101 }, () => ({ product: 'x', price: 1 })),
  Array.from({ length: 2_000 }, () => 0),
  raw('{"__proto__":{"isAdmin":true}}'),
  raw('{"a":1,"a":2}'),
  raw('['.repeat(5_000) + ']'.repeat(5_000)),
  raw('{"a":'.repeat(40) + '1' + '}'.repeat(40)),
];

export const hostileText = fc.oneof(fc.constantFrom(...texts), fc.string({ unit: 'binary', maxLength: 60 }));

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom(...numbers),
  fc.constantFrom(...structures),
  fc.jsonValue({ maxDepth: 3 }),
  fc.double(),
  fc.integer(),
);

const hostileName = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    '',
    'id',
    'status',
    'partyID',
    'createdAt',
    'cost',
    'a\0',
  ),
  hostileText,
);

/** One way to spoil a value: where, counted over its members and theirs, and how. */
type Spoiling = {
  readonly where: number;
  readonly how: 'replace' | 'remove' | 'add';
  readonly name: string;
  readonly value: unknown;
};
const spoiling: fc.Arbitrary<Spoiling> = fc.record({
  where: fc.nat({ max: 40 }),
  how: fc.constantFrom('replace', 'replace', 'remove', 'add'),
  name: hostileName,
  value: hostileValue,
});

/** Ways to spoil the bytes of a body. */
const bytesSpoiling = fc.record({
  how: fc.constantFrom('cut', 'insert', 'byteOrderMark', 'twice', 'utf16', 'enormous'),
  where: fc.nat({ max: 300 }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 4 }),
});

/** The body as bytes: unchanged in half of the cases, otherwise spoiled once or more. */
export function spoiled(value: fc.Arbitrary<unknown>): fc.Arbitrary<Buffer> {
  const changed = fc
    .tuple(value, fc.oneof(fc.constant([]), fc.array(spoiling, { minLength: 1, maxLength: 3 })))
    .map(([right, spoilings]) => bytesOf(spoilings.reduce(spoil, right)));
  return fc.oneof(
    { weight: 12, arbitrary: changed },
    { weight: 1, arbitrary: hostileValue.map(bytesOf) },
    { weight: 1, arbitrary: fc.tuple(changed, bytesSpoiling).map(([bytes, how]) => spoilBytes(bytes, how)) },
  );
}

function bytesOf(value: unknown): Buffer {
  // JSON.stringify escapes lone surrogates, so they arrive unchanged.
  const text = JSON.stringify(value) ?? 'null';
  return Buffer.from(text.replace(rawText, (_, inner: string) => JSON.parse(`"${inner}"`) as string));
}

type Parent = Record<string, unknown> | unknown[];

function spoil(value: unknown, { where, how, name, value: hostile }: Spoiling): unknown {
  const copy = structuredClone({ root: value });
  const places = placesIn(copy);
  const place = places[where % places.length];
  if (!place) return value;
  const [parent, key] = place;
  const members = parent as Record<string, unknown>;
  if (how === 'replace') members[key] = hostile;
  if (how === 'remove') delete members[key];
  const target = members[key];
  if (how === 'add' && typeof target === 'object' && target !== null) {
    Object.defineProperty(target, name, {
      value: hostile,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return copy.root;
}

function placesIn(parent: Parent): [Parent, string][] {
  return Object.entries(parent).flatMap(([key, member]): [Parent, string][] => [
    [parent, key],
    ...(typeof member === 'object' && member !== null ? placesIn(member as Parent) : []),
  ]);
}

function spoilBytes(
  body: Buffer,
  { how, where, bytes }: { how: string; where: number; bytes: Uint8Array },
): Buffer {
  const at = Math.min(where, body.length);
  switch (how) {
    case 'cut':
      return body.subarray(0, at);
    case 'insert':
      return Buffer.concat([body.subarray(0, at), bytes, body.subarray(at)]);
    case 'byteOrderMark':
      return Buffer.concat([Buffer.from('\ufeff'), body]);
    case 'twice':
      return Buffer.concat([body, body]);
    case 'utf16':
      return Buffer.from(body.toString(), 'utf16le');
    default:
      return Buffer.concat([body, Buffer.alloc(256 * 1024 - body.length + (where % 3) - 1, ' ')]);
  }
}
