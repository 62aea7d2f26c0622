// A file of a former provider: its rows, encrypted to a key, and imported by a service.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { importInto } from '../../../src/cli/imports/import-cards.ts';
import {
  makeKeyPair,
  openSealedFile,
  privateKeyIn,
  publicKeyIn,
  sealed,
} from '../../../src/importing/sealed-file.ts';
import type { ImportReport } from '../../../src/importing/import-cards.ts';
import { temporaryFolder } from '../database/test-cluster.ts';
import type { TestService } from './test-service.ts';

export const goodCard = '4242424242424242';

/** A row that is imported as it is. */
export function importRow(more: Record<string, unknown> = {}) {
  return {
    externalID: 'old-1',
    shopID: 'TEST',
    contactInfo: { email: 'payer@example.com' },
    card: { cardNumber: goodCard, expDate: '12/30', cardHolder: 'ANN OWNER' },
    recurrentTerms: {
      schedule: 'P1M',
      amountRule: { kind: 'upTo', amount: 10_000 },
      consent: { ticked: true, tickedAt: '2025-11-05T10:00:00Z', text: 'I agree to monthly payments.' },
    },
    firstPayment: {
      createdAt: '2025-11-05T10:00:30Z',
      amount: 6_000,
      currency: 'RUB',
      reference: 'old-payment-1',
      networkTransactionID: { kind: 'visaTid', value: '485012345678901' },
    },
    ...more,
  };
}

export type ImportFiles = {
  readonly folder: string;
  readonly keyFile: string;
  readonly publicText: string;
  /** Writes them as an encrypted file and returns its path. */
  seal(rows: readonly (object | string)[], name?: string): Promise<string>;
  open(path: string): ReturnType<typeof openSealedFile>;
  remove(): Promise<void>;
};

export function importFiles(): ImportFiles {
  const { folder, remove } = temporaryFolder();
  const { privatePem, publicText } = makeKeyPair();
  const keyFile = join(folder, 'key.pem');
  writeFileSync(keyFile, privatePem);
  return {
    folder,
    keyFile,
    publicText,
    async seal(rows, name = 'cards.sealed') {
      const path = join(folder, name);
      writeFileSync(path, await sealedBytes(textOf(rows), publicText));
      return path;
    },
    open(path) {
      const key = privateKeyIn(privatePem);
      if (!key) throw new Error('no key');
      return openSealedFile(path, key);
    },
    remove: async () => void (await remove()),
  };
}

export function textOf(rows: readonly (object | string)[]): string {
  return rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('');
}

export async function sealedBytes(text: string, publicText: string): Promise<Buffer> {
  const key = publicKeyIn(publicText);
  if (!key) throw new Error('no key');
  const parts: Buffer[] = [];
  for await (const part of sealed(inOnePart(Buffer.from(text)), key)) parts.push(part);
  return Buffer.concat(parts);
}

async function* inOnePart(bytes: Buffer) {
  yield bytes;
}

/** As `mandate import cards` does it, by the clock of the test. */
export async function importRows(
  service: TestService,
  files: ImportFiles,
  partyId: string,
  rows: readonly (object | string)[],
  more: { readonly dryRun?: true } = {},
): Promise<ImportReport> {
  const file = await files.open(await files.seal(rows));
  try {
    await file.verify();
    return await importInto(service, file, { party: partyId, key: files.keyFile, ...more });
  } finally {
    await file.close();
  }
}
