// mandate import key and encrypt: the key pair of an import, and the file that only its private key opens. Neither opens a database.
import { open, rm, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { codeOf } from '../../error-code.ts';
import { makeKeyPair, openFile, publicKeyIn, sealed } from '../../importing/sealed-file.ts';

/** The owner alone. */
const secretMode = 0o600;

export async function makeImportKey({ out }: { readonly out: string }): Promise<void> {
  const { privatePem, publicText } = makeKeyPair();
  await writeFile(out, privatePem, { flag: 'wx', mode: secretMode }).catch((error: unknown) => {
    throw notWritten(out, error);
  });
  console.log(publicText);
  console.error(`The private key is in ${out}. Give the sender the public key above.`);
}

export async function encryptRows(
  rows: string,
  { to, out }: { readonly to: string; readonly out: string },
): Promise<void> {
  const recipient = publicKeyIn(to);
  if (!recipient)
    throw new Error(`--to is not a public key. Use the 43 characters that "mandate import key" prints.`);
  const plain = rows === '-' ? process.stdin : (await openFile(rows)).createReadStream();
  const target = await open(out, 'wx', secretMode).catch((error: unknown) => {
    throw notWritten(out, error);
  });
  try {
    const bytes = Readable.from(sealed(plain, recipient), { objectMode: false });
    await pipeline(bytes, target.createWriteStream());
  } catch (error) {
    // A part of a file would be refused when it is read.
    await rm(out, { force: true });
    throw error;
  }
  console.log(`Encrypted ${rows === '-' ? 'standard input' : rows} to ${out}.`);
}

function notWritten(file: string, error: unknown): Error {
  const why = codeOf(error) === 'EEXIST' ? 'exists already' : 'cannot be written';
  return new Error(`--out "${file}" ${why}. Name another file.`);
}
