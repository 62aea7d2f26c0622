// Opens what files hold: gzip, tar and the dumps of pg_dump, also within each other. What cannot be opened is named.
import { createGunzip } from 'node:zlib';
import { ByteReader, Unreadable, type Contents } from './byte-reader.ts';
import { isDump, readDump } from './database-dump.ts';
import { decoded } from './decoded.ts';

const maxDepth = 8;
const unopened: readonly (readonly [why: string, magic: Buffer])[] = [
  ['compressed with zstd', Buffer.from('28b52ffd', 'hex')],
  ['compressed with lz4', Buffer.from('04224d18', 'hex')],
  ['compressed with xz', Buffer.from('fd377a585a00', 'hex')],
  ['compressed with bzip2', Buffer.from('BZh')],
  ['a zip archive', Buffer.from('PK\x03\x04', 'latin1')],
  ['a 7z archive', Buffer.from('377abcaf271c', 'hex')],
  ['encrypted', Buffer.from('age-encryption.org/')],
  ['encrypted', Buffer.from('-----BEGIN PGP MESSAGE')],
  ['encrypted', Buffer.from('Salted__')],
];

export async function openContents(
  bytes: AsyncIterable<Buffer>,
  contents: Contents,
  part = '',
  depth = 0,
): Promise<void> {
  const reader = new ByteReader(bytes);
  try {
    const head = await reader.peek(tarBlock);
    const [why] = unopened.find(([, magic]) => head.subarray(0, magic.length).equals(magic)) ?? [];
    if (why !== undefined) contents.notSearched(part, why);
    else if (depth > maxDepth) contents.notSearched(part, 'compressed too many times');
    else if (isDump(head)) await readDump(reader, contents, part);
    else if (head[0] === 0x1f && head[1] === 0x8b)
      await openContents(decoded(createGunzip(), reader.rest()), contents, part, depth + 1);
    else if (isTar(head)) await openTar(reader, contents, part, depth + 1);
    else await contents.text(part, reader.rest());
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    contents.notSearched(part, error.message);
  }
}

const tarBlock = 512;

function isTar(head: Buffer): boolean {
  return head.length === tarBlock && head.toString('latin1', 257, 262) === 'ustar';
}

async function openTar(reader: ByteReader, contents: Contents, part: string, depth: number): Promise<void> {
  for (;;) {
    const head = await reader.take(tarBlock);
    if (!isTar(head)) break;
    const name = head.toString('utf8', 0, 100).replace(/\0.*/s, '');
    const bytes = tarSize(head.subarray(124, 136));
    await openContents(reader.pieces(bytes), contents, `${part}${name}, `, depth);
    for await (const _ of reader.pieces(-bytes & (tarBlock - 1)));
  }
  // After the end are blocks of zeros.
  for await (const piece of reader.rest())
    if (piece.some((byte) => byte !== 0)) throw new Unreadable('more bytes follow its end');
}

/** Octal digits, or for large members a binary number. */
function tarSize(field: Buffer): number {
  const octal = /^[ 0]*([0-7]+)[ \0]*$/.exec(field.toString('latin1'))?.[1];
  if (octal !== undefined) return Number.parseInt(octal, 8);
  if (((field[0] ?? 0) & 0x80) === 0) throw new Unreadable('damaged');
  return Number(BigInt.asUintN(64, BigInt(`0x${field.subarray(4).toString('hex')}`)));
}
