// mandate consent: whether a bundle that somebody shows is what the service sealed, and the keys it seals with.
import { readFile } from 'node:fs/promises';
import { verifyBundle } from '../../recurring/consent-bundle.ts';
import { sealKeysOf } from '../../recurring/consent-seal.ts';
import { consentSheet } from '../../recurring/domain/consent-sheet.ts';
import { findWithoutEvidence } from '../../recurring/store/missing-evidence.ts';
import { printTable, withFoundation } from '../foundation.ts';

type Verifying = { sealedBy?: string[]; sealedHere?: true };

/** On standard output; of a bundle that was changed there is no page. */
export async function printConsent(file: string): Promise<void> {
  const verified = verifyBundle(await readFile(file, 'utf8'));
  if (!verified.ok) throw new Error(`${file} is not to be believed: ${verified.why}`);
  process.stdout.write(consentSheet(verified.bundle));
}

/** Needs nothing but the file, unless the keys of this service are to be asked for. */
export async function verifyConsent(file: string, { sealedBy, sealedHere }: Verifying): Promise<void> {
  const text = await readFile(file, 'utf8');
  const ours = sealedHere ? await withFoundation(({ keyring }) => sealKeysOf(keyring)) : [];
  const believed = [...(sealedBy ?? []), ...ours.map(({ publicKey }) => publicKey)];
  const verified = verifyBundle(text, believed);
  if (!verified.ok) throw new Error(`${file} is not to be believed: ${verified.why}`);
  const { seriesId, entries, sealedAt, publicKey } = verified.bundle;
  console.log(`unchanged: ${entries.length} entries of ${seriesId}, sealed at ${sealedAt}`);
  if (believed.length === 0) {
    console.log(
      `by ${publicKey}; compare it with what \`mandate consent keys\` shows, or give it as --sealed-by`,
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
  const found = await withFoundation(({ database }) => findWithoutEvidence(database, asked));
  if (options.json) return console.log(JSON.stringify(found, null, 2));
  if (found.length === 0)
    return console.log('Of every series that may be charged there is a consent to show.');
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

/** Of all generations: what was sealed with an older one is shown in disputes for years. */
export async function listConsentKeys(): Promise<void> {
  await withFoundation(async ({ keyring }) => {
    for (const { keyVersion, publicKey } of await sealKeysOf(keyring))
      console.log(`${keyVersion}  ${publicKey}`);
  });
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
    console.log(`new consent bundles are sealed with key version ${keyVersion}: ${key}`);
    console.log(
      'nodes that run learn of it within a minute; the keys before go on being good for what they sealed',
    );
  });
}
