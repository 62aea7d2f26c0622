// mandate consent: whether a bundle that somebody shows is what the service sealed.
import { readFile } from 'node:fs/promises';
import { publicKeyTextOf, verifyBundle } from '../recurring/consent-bundle.ts';
import { withFoundation } from './foundation.ts';

export async function verifyConsent(file: string, options: { sealedBy?: string }): Promise<void> {
  const verified = verifyBundle(await readFile(file, 'utf8'), options.sealedBy);
  if (!verified.ok) throw new Error(`${file} is not to be believed: ${verified.why}`);
  const { seriesId, entries, sealedAt, publicKey } = verified.bundle;
  console.log(`unchanged: ${entries.length} entries of ${seriesId}, sealed at ${sealedAt}`);
  if (options.sealedBy === undefined) {
    console.log(
      `by ${publicKey}; compare it with what \`mandate consent key\` shows, or give it as --sealed-by`,
    );
  }
}

export async function showConsentKey(): Promise<void> {
  await withFoundation(async ({ keyring }) => {
    const key = await keyring.find('consent_seal', 1);
    if (!key) throw new Error('the key that seals consents is missing');
    console.log(publicKeyTextOf(key.secret));
  });
}
