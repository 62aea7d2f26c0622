// The encrypted file of an import: only its private key opens it, and only as it was written.
import { afterAll, describe, expect, test } from 'vitest';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { importFiles, sealedBytes } from '../../test/support/service/imported.ts';
import { makeKeyPair, openSealedFile, privateKeyIn, publicKeyIn } from './sealed-file.ts';

const files = importFiles();
afterAll(files.remove);

const headerBytes = 49;
const chunkBytes = 65_536 + 16;

async function linesIn(bytes: Buffer): Promise<string[]> {
  const path = join(files.folder, 'read');
  writeFileSync(path, bytes);
  const file = await files.open(path);
  try {
    await file.verify();
    const lines: string[] = [];
    for await (const { number, text } of file.lines()) lines.push(`${number} ${text}`);
    return lines;
  } finally {
    await file.close();
  }
}

/** Lines of 100 characters, so that chunks end in the middle of a line. */
const text = (count: number) =>
  Array.from({ length: count }, (_, number) => `${String(number).padStart(99, '-')}\n`).join('');
const lineCounts = { 'no line': 0, 'one line': 1, 'lines of several chunks': 3_000 };

describe('an encrypted file', () => {
  test.each(Object.entries(lineCounts))('with %s is read as it was written', async (_, count) => {
    const lines = await linesIn(await sealedBytes(text(count), files.publicText));
    expect(lines).toHaveLength(count);
    if (count > 0) expect(lines.at(-1)).toBe(`${count} ${String(count - 1).padStart(99, '-')}`);
  });

  test('whose text fills its chunks, or ends without a new line, is read whole', async () => {
    const full = 'x'.repeat(65_535) + '\n';
    for (const plain of [full, full + full, full + 'last'])
      expect(await linesIn(await sealedBytes(plain, files.publicText))).toHaveLength(
        plain.split('\n').filter((line) => line !== '').length,
      );
  });

  test('holds nothing of the text, and differs each time', async () => {
    const [one, other] = [
      await sealedBytes(text(10), files.publicText),
      await sealedBytes(text(10), files.publicText),
    ];
    expect(one.includes('-----')).toBe(false);
    expect(one.equals(other)).toBe(false);
  });

  test('opens with no other key', async () => {
    const path = await files.seal([{ a: 1 }]);
    const other = privateKeyIn(makeKeyPair().privatePem);
    if (!other) throw new Error('no key');
    const file = await openSealedFile(path, other);
    await expect(file.verify()).rejects.toThrow(/was encrypted to another key, or is damaged/);
    await file.close();
  });

  test('is refused with any bit changed, cut off, in another order, or longer', async () => {
    const good = await sealedBytes(text(3_000), files.publicText);
    const chunk = (index: number) =>
      good.subarray(headerBytes + index * chunkBytes, headerBytes + (index + 1) * chunkBytes);
    const header = good.subarray(0, headerBytes);
    const [first, second] = [chunk(0), chunk(1)];
    const rest = good.subarray(headerBytes + 2 * chunkBytes);
    const changed = (at: number, bits = 1) => {
      const bytes = Buffer.from(good);
      bytes.writeUInt8(bytes.readUInt8(at) ^ bits, at);
      return bytes;
    };
    const other = await sealedBytes(text(3_000), files.publicText);
    const bad = {
      'a bit of the magic': changed(3),
      'a bit of the key': changed(20),
      // X25519 ignores it.
      'the highest bit of the key': changed(headerBytes - 1, 0x80),
      'a bit of the first chunk': changed(headerBytes + 5),
      'a bit of the last tag': changed(good.length - 1),
      'no last byte': good.subarray(0, -1),
      'no last chunk': Buffer.concat([header, first, second]),
      'only a header': header,
      'half a header': header.subarray(0, 20),
      'no bytes': Buffer.alloc(0),
      'chunks in another order': Buffer.concat([header, second, first, rest]),
      'a chunk twice': Buffer.concat([header, first, first, second, rest]),
      'no first chunk': Buffer.concat([header, second, rest]),
      'a byte more': Buffer.concat([good, Buffer.alloc(1)]),
      'two files': Buffer.concat([good, good]),
      'the header of another file': Buffer.concat([
        other.subarray(0, headerBytes),
        good.subarray(headerBytes),
      ]),
    };
    const accepted: string[] = [];
    for (const [how, bytes] of Object.entries(bad))
      await linesIn(bytes).then(
        () => accepted.push(how),
        (error: Error) => expect(error.message, how).toMatch(/not written by|another key|damaged or cut off/),
      );
    expect(accepted).toEqual([]);
  });

  test('with a line that is too long is refused', async () => {
    const bytes = await sealedBytes('x'.repeat(300_000), files.publicText);
    await expect(linesIn(bytes)).rejects.toThrow(/Line 1 of .* has more than 200000 bytes/);
  });
});

test('only keys of an import are keys', () => {
  expect(publicKeyIn(makeKeyPair().publicText)).toBeDefined();
  expect(publicKeyIn('short')).toBeUndefined();
  expect(privateKeyIn('no PEM')).toBeUndefined();
});
