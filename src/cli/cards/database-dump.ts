// Reads the dumps of pg_dump --format=custom, which PostgreSQL documents in pg_backup_archiver.c alone. Their data is compressed by table.
import { createInflate } from 'node:zlib';
import { Unreadable, type ByteReader, type Contents } from './byte-reader.ts';
import { decoded } from './decoded.ts';

const magic = 'PGDMP';
const customFormat = 1;
/** PostgreSQL 10 to 18. A later one may arrange its entries in another way. */
const versions = { oldest: 12, newest: 16 };
const dataBlock = 1;
const largeObjectsBlock = 3;

export function isDump(head: Buffer): boolean {
  return head.toString('latin1', 0, magic.length) === magic;
}

type Header = {
  readonly minor: number;
  readonly intBytes: number;
  readonly offsetBytes: number;
  readonly isCustom: boolean;
  readonly compression: 'none' | 'gzip';
};

export async function readDump(reader: ByteReader, contents: Contents, part: string): Promise<void> {
  const dump = new DumpReader(reader, await readHeader(reader));
  const names = new Map<number, string>();
  const definitions: string[] = [...(await dump.readPreface())];
  const entries = await dump.readInt();
  for (let entry = 0; entry < entries; entry++) {
    const { id, name, texts } = await dump.readEntry();
    names.set(id, name);
    definitions.push(...texts);
    // Definitions of a whole database need not be in memory at the same time.
    if (definitions.length > 1_000 || entry === entries - 1)
      await contents.text(`${part}definitions, `, only(Buffer.from(definitions.splice(0).join('\n'))));
  }
  while (dump.header.isCustom && !(await dump.isAtEnd())) await readBlock(dump, names, contents, part);
  if (!dump.header.isCustom && !(await dump.isAtEnd())) throw new Unreadable('damaged');
}

async function readBlock(
  dump: DumpReader,
  names: ReadonlyMap<number, string>,
  contents: Contents,
  part: string,
): Promise<void> {
  const kind = await dump.readByte();
  const id = await dump.readInt();
  const name = `${part}${names.get(id) ?? `entry ${id}`}, `;
  if (kind === dataBlock) await contents.text(name, dump.data());
  else if (kind !== largeObjectsBlock) throw new Unreadable('damaged');
  else while ((await dump.readInt()) !== 0) await contents.text(name, dump.data());
}

async function* only(bytes: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(bytes);
}

async function readHeader(reader: ByteReader): Promise<Header> {
  await reader.take(magic.length);
  const [major, minor = 0, , intBytes = 0, offsetBytes = 0, format] = await reader.take(6);
  const { oldest, newest } = versions;
  if (major !== 1 || minor < oldest || minor > newest)
    throw new Unreadable(`a dump of version ${major}.${minor}, which is not known`);
  if (intBytes < 1 || intBytes > 6 || offsetBytes > 8) throw new Unreadable('damaged');
  const isCustom = format === customFormat;
  const header = { minor, intBytes, offsetBytes, isCustom, compression: 'none' } as const;
  if (minor < 15) {
    const level = await new DumpReader(reader, header).readInt();
    return { ...header, compression: level === 0 ? 'none' : 'gzip' };
  }
  const [algorithm = 0] = await reader.take(1);
  const compression = (['none', 'gzip'] as const)[algorithm];
  if (compression === undefined && isCustom)
    throw new Unreadable(`a dump compressed with ${['lz4', 'zstd'][algorithm - 2] ?? 'an unknown method'}`);
  return { ...header, compression: compression ?? 'none' };
}

class DumpReader {
  private readonly reader: ByteReader;
  readonly header: Header;

  constructor(reader: ByteReader, header: Header) {
    this.reader = reader;
    this.header = header;
  }

  async isAtEnd(): Promise<boolean> {
    return (await this.reader.peek(1)).length === 0;
  }

  async readByte(): Promise<number> {
    const [byte = 0] = await this.reader.take(1);
    return byte;
  }

  /** Its sign, then its bytes. */
  async readInt(): Promise<number> {
    const { intBytes } = this.header;
    const bytes = await this.reader.take(1 + intBytes);
    const size = bytes.readUIntLE(1, intBytes);
    return bytes[0] === 0 ? size : -size;
  }

  async readText(): Promise<string | undefined> {
    const bytes = await this.readInt();
    return bytes < 0 ? undefined : (await this.reader.take(bytes)).toString();
  }

  /** The time of the dump, and the names of the database and of versions. */
  async readPreface(): Promise<string[]> {
    for (let part = 0; part < 7; part++) await this.readInt();
    return this.readTexts(3);
  }

  private async readTexts(count: number): Promise<string[]> {
    const texts: string[] = [];
    for (let text = 0; text < count; text++) texts.push((await this.readText()) ?? '');
    return texts;
  }

  async readEntry(): Promise<{ id: number; name: string; texts: readonly string[] }> {
    const { minor, offsetBytes, isCustom } = this.header;
    const id = await this.readInt();
    await this.readInt();
    const [, , tag = '', kind = ''] = await this.readTexts(4);
    await this.readInt();
    // Definition, removal, copy statement, schema, tablespace, and from 1.14 the method of access.
    const texts = await this.readTexts(minor >= 14 ? 6 : 5);
    if (minor >= 16) await this.readInt();
    texts.push(tag, ...(await this.readTexts(2)));
    while ((await this.readText()) !== undefined);
    if (isCustom) await this.reader.take(1 + offsetBytes);
    else await this.readText();
    return { id, name: `${kind.toLowerCase().replace(/ data$/, '')} ${tag}`, texts };
  }

  data(): AsyncGenerator<Buffer> {
    return this.header.compression === 'gzip' ? decoded(createInflate(), this.chunks()) : this.chunks();
  }

  private async *chunks(): AsyncGenerator<Buffer> {
    for (let bytes = await this.readInt(); bytes !== 0; bytes = await this.readInt()) {
      if (bytes < 0) throw new Unreadable('damaged');
      yield* this.reader.pieces(bytes);
    }
  }
}
