// A file that only one private key opens: X25519, HKDF and AES-256-GCM, chunk by chunk. Each chunk proves its place, and the last one that
// it is the last (docs/decisions/0042-import.md).
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { codeOf } from '../error-code.ts';

const magic = Buffer.from('mandate import 1\n');
const keyBytes = 32;
const headerBytes = magic.length + keyBytes;
const chunkBytes = 65_536;
const tagBytes = 16;
const cipher = 'aes-256-gcm';
/** Longer than a row with the longest text of a consent. */
const maxLineBytes = 200_000;

export type Line = { readonly number: number; readonly text: string };

export type SealedFile = {
  /** Reads all of it, and fails unless every byte is as it was written. */
  verify(): Promise<void>;
  lines(): AsyncGenerator<Line, void>;
  close(): Promise<void>;
};

/** The private key as PEM, and the public key in one line to hand out. */
export function makeKeyPair(): { readonly privatePem: string; readonly publicText: string } {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  return {
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicText: rawOf(publicKey).toString('base64url'),
  };
}

/** Undefined for text that is no public key. */
export function publicKeyIn(text: string): KeyObject | undefined {
  const x = text.trim();
  if (!/^[\w-]{43}$/.test(x)) return undefined;
  return createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' });
}

/** Undefined for text that is no private key of this kind. */
export function privateKeyIn(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'x25519' ? key : undefined;
  } catch {
    return undefined;
  }
}

/** The bytes of the file that hands `plain` over. */
export async function* sealed(plain: AsyncIterable<Buffer>, recipient: KeyObject): AsyncGenerator<Buffer> {
  const own = generateKeyPairSync('x25519');
  const ephemeral = rawOf(own.publicKey);
  const shared = diffieHellman({ privateKey: own.privateKey, publicKey: recipient });
  const key = chunkKey(shared, ephemeral, recipient);
  yield Buffer.concat([magic, ephemeral]);
  let index = 0;
  for await (const { bytes, isLast } of chunksOf(plain, chunkBytes)) {
    const encrypt = createCipheriv(cipher, key, nonceOf(index++, isLast));
    yield Buffer.concat([encrypt.update(bytes), encrypt.final(), encrypt.getAuthTag()]);
  }
}

export async function openSealedFile(path: string, privateKey: KeyObject): Promise<SealedFile> {
  const handle = await openFile(path);
  try {
    const header = Buffer.alloc(headerBytes);
    const { bytesRead } = await handle.read(header, 0, headerBytes, 0);
    if (bytesRead < headerBytes || !header.subarray(0, magic.length).equals(magic))
      throw new Error(`${path} was not written by "mandate import encrypt".`);
    const ephemeral = header.subarray(magic.length);
    const publicKey = publicKeyIn(ephemeral.toString('base64url')) as KeyObject;
    const key = chunkKey(sharedSecret(path, privateKey, publicKey), ephemeral, createPublicKey(privateKey));
    // Each reading ends before the next one begins, and the handle is closed at the end.
    const bytes = () => handle.createReadStream({ start: headerBytes, autoClose: false });
    const lines = () => linesOf(path, opened(path, bytes(), key));
    return {
      async verify() {
        for await (const _ of lines());
      },
      lines,
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export function openFile(path: string): Promise<FileHandle> {
  return open(path).catch((error: unknown) => {
    throw codeOf(error) === 'ENOENT'
      ? new Error(`File ${path} not found.`)
      : new Error(`${path} cannot be read.`);
  });
}

function sharedSecret(path: string, privateKey: KeyObject, publicKey: KeyObject): Buffer {
  try {
    return diffieHellman({ privateKey, publicKey });
  } catch {
    throw new Error(`${path} is damaged. Nothing was imported.`);
  }
}

async function* opened(path: string, sealedBytes: AsyncIterable<Buffer>, key: Buffer) {
  let index = 0;
  for await (const { bytes, isLast } of chunksOf(sealedBytes, chunkBytes + tagBytes)) {
    const at = index++;
    let plain: Buffer;
    try {
      const decrypt = createDecipheriv(cipher, key, nonceOf(at, isLast), { authTagLength: tagBytes });
      decrypt.setAuthTag(bytes.subarray(-tagBytes));
      plain = Buffer.concat([decrypt.update(bytes.subarray(0, -tagBytes)), decrypt.final()]);
    } catch {
      const why =
        at === 0
          ? 'was encrypted to another key, or is damaged'
          : `is damaged or cut off, after ${at * chunkBytes} bytes`;
      throw new Error(`${path} ${why}. Get it again from the sender.`);
    }
    yield plain;
  }
}

async function* linesOf(path: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Line, void> {
  let number = 0;
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const all = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = all.indexOf(0x0a); end >= 0; end = all.indexOf(0x0a, start)) {
      yield { number: ++number, text: all.toString('utf8', start, end) };
      start = end + 1;
    }
    rest = Buffer.from(all.subarray(start));
    all.fill(0);
    chunk.fill(0);
    if (rest.length > maxLineBytes)
      throw new Error(`Line ${number + 1} of ${path} has more than ${maxLineBytes} bytes.`);
  }
  if (rest.length > 0) yield { number: number + 1, text: rest.toString() };
}

/** Portions of one size; the last one may be shorter, and is empty only if there is nothing else. */
async function* chunksOf(source: AsyncIterable<Buffer>, size: number) {
  let held = Buffer.alloc(0);
  for await (const part of source) {
    held = Buffer.concat([held, part]);
    // What could be the last portion is held back.
    let start = 0;
    for (; held.length - start > size; start += size)
      yield { bytes: held.subarray(start, start + size), isLast: false };
    held = held.subarray(start);
  }
  yield { bytes: held, isLast: true };
}

/** Both public keys are bound, so that no header fits another file. */
function chunkKey(shared: Buffer, ephemeral: Buffer, recipient: KeyObject): Buffer {
  const salt = Buffer.concat([ephemeral, rawOf(recipient)]);
  return Buffer.from(hkdfSync('sha256', shared, salt, 'mandate import 1', 32));
}

/** The key is of one file alone, so a counter never repeats under it. */
function nonceOf(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(index, 7);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

function rawOf(publicKey: KeyObject): Buffer {
  return Buffer.from(publicKey.export({ format: 'jwk' }).x as string, 'base64url');
}
