// mandate consent: verify consent bundles, and manage the keys that seal them.
import { readFile } from 'node:fs/promises';
import { verifyBundle } from '../../recurring/consent-bundle.ts';
import { sealKeysOf } from '../../recurring/consent-seal.ts';
import { consentSheet } from '../../recurring/domain/consent-sheet.ts';
import { readBundle } from '../../recurring/store/codec.ts';
import { findWithoutEvidence } from '../../recurring/store/missing-evidence.ts';
import { printTable, requireParty, sentence, withFoundation } from '../foundation.ts';
import { printJson } from '../json-members.ts';

type Verifying = { sealedBy?: string[]; sealedHere?: true };

export async function printConsent(file: string): Promise<void> {
  const verified = verifyBundle(await bundleIn(file));
  if (!verified.ok) throw notVerified(file, verified.why);
  process.stdout.write(consentSheet(readBundle(verified.bundle)));
}

/** Opens the database only for --sealed-here. */
export async function verifyConsent(file: string, { sealedBy, sealedHere }: Verifying): Promise<void> {
  const text = await bundleIn(file);
  const ours = sealedHere ? await withFoundation(({ keyring }) => sealKeysOf(keyring)) : [];
  const trusted = [...(sealedBy ?? []), ...ours.map(({ publicKey }) => publicKey)];
  const verified = verifyBundle(text, trusted);
  if (!verified.ok) throw notVerified(file, verified.why);
  const { seriesId, entries, sealedAt, publicKey } = verified.bundle;
  console.log(`Unchanged: series ${seriesId}, entries 1 to ${entries.length}, sealed at ${sealedAt}.`);
  if (trusted.length === 0) {
    console.log(
      `Sealed with ${publicKey}. Compare it with "mandate consent keys", or pass it with --sealed-by.`,
    );
  }
}

const maxShown = 1_000;

export async function listMissingConsents(options: {
  party: string;
  shop?: string;
  json?: true;
}): Promise<void> {
  const asked = { partyId: options.party, shopId: options.shop, limit: maxShown };
  const found = await withFoundation(async ({ database }) => {
    await requireParty(database, options.party);
    return findWithoutEvidence(database, asked);
  });
  if (options.json) return printJson('consent missing', found);
  if (found.length === 0) return console.log('Every active series has evidence of consent.');
  printTable(
    ['series', 'shop', 'since', 'charges'],
    found.map(({ seriesId, shopId, consentedAt, chargesMade }) => [
      seriesId,
      shopId,
      consentedAt.slice(0, 19),
      String(chargesMade),
    ]),
  );
}

/** All versions: a dispute may show a bundle that is years old. */
export async function listConsentKeys(options: { json?: true }): Promise<void> {
  const keys = await withFoundation(({ keyring }) => sealKeysOf(keyring));
  if (options.json) return printJson('consent keys', keys);
  for (const { keyVersion, publicKey } of keys) console.log(`${keyVersion}  ${publicKey}`);
}

export async function showConsentKey(): Promise<void> {
  await withFoundation(async ({ keyring }) => {
    console.log((await sealKeysOf(keyring)).at(-1)?.publicKey);
  });
}

export async function rotateConsentKey(): Promise<void> {
  await withFoundation(async ({ keyring }) => {
    const keyVersion = await keyring.rotate('consent_seal');
    const key = (await sealKeysOf(keyring)).at(-1)?.publicKey;
    console.log(`New consent bundles are sealed with key version ${keyVersion}: ${key}`);
    console.log('Running nodes use it within a minute. Bundles sealed with earlier keys stay valid.');
  });
}

async function bundleIn(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isMissing ? 'not found. Check the path.' : `not readable: ${(error as Error).message}.`;
    throw new Error(`File ${file} is ${why}`, { cause: error });
  }
}

function notVerified(file: string, why: string): Error {
  return new Error(
    `${file} is not a valid consent bundle: ${sentence(why)} Download the bundle again from the API.`,
  );
}
