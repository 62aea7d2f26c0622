// The consent bundle: all events of a consent, hash-chained as they were written, sealed with a signature. A change of one
// byte is detected.
import { createPrivateKey, createPublicKey, hash, sign, verify, type KeyObject } from 'node:crypto';
import type { Instant } from '../clock.ts';

export type BundleEntry = {
  readonly sequence: number;
  readonly at: Instant;
  readonly facts: readonly unknown[];
  readonly hash: string;
};

export type Bundle = {
  readonly format: 'mandate consent 1';
  readonly seriesId: string;
  readonly partyId: string;
  readonly shopId: string;
  readonly sealedAt: Instant;
  readonly entries: readonly BundleEntry[];
  /** The Ed25519 public key of the seal, base64url. */
  readonly publicKey: string;
  readonly signature: string;
};

export type Verified =
  | { readonly ok: true; readonly bundle: Bundle }
  | { readonly ok: false; readonly why: string };

/** The hash over the entry and all entries before it. */
export function linkOf(before: string, { sequence, at, facts }: Omit<BundleEntry, 'hash'>): string {
  return hash('sha256', JSON.stringify([before, sequence, at, facts]));
}

export function seal(secret: Buffer, content: Omit<Bundle, 'publicKey' | 'signature'>): Bundle {
  const key = privateKeyOf(secret);
  const signed = { ...content, publicKey: publicTextOf(createPublicKey(key)) };
  return { ...signed, signature: sign(null, textOf(signed), key).toString('base64url') };
}

/** A bundle is written as the API returns it, or indented. Any other whitespace counts as a change. */
function isWrittenAsSealed(bundle: Bundle, file: string): boolean {
  const text = file.endsWith('\n') ? file.slice(0, -1) : file;
  return text === (text.includes('\n') ? JSON.stringify(bundle, null, 2) : JSON.stringify(bundle));
}

/** Sealed by one of the `sealedBy` keys, by any signer if there are none. The chain is checked first, because it names the changed entry. */
export function verifyBundle(file: string, sealedBy: readonly string[] = []): Verified {
  const bundle = parsed(file);
  if (!bundle) return no('The file is not a consent bundle.');
  if (!isWrittenAsSealed(bundle, file)) return no('The file is not formatted as it was sealed.');
  if (sealedBy.length > 0 && !sealedBy.includes(bundle.publicKey))
    return no('The bundle is sealed with another key.');
  let before = '';
  for (const [place, entry] of bundle.entries.entries()) {
    before = linkOf(before, entry);
    if (entry.sequence !== place + 1 || entry.hash !== before)
      return no(`Entry ${place + 1} breaks the hash chain.`);
  }
  const { signature, ...signed } = bundle;
  const key = publicKeyOf(bundle.publicKey);
  const bytes = Buffer.from(signature, 'base64url');
  if (!key || bytes.toString('base64url') !== signature) return no('The seal is unreadable.');
  if (!verify(null, textOf(signed), key, bytes)) return no('The seal does not match the content.');
  return { ok: true, bundle };
}

function parsed(file: string): Bundle | undefined {
  try {
    const bundle = JSON.parse(file) as Bundle;
    const isBundle =
      bundle.format === 'mandate consent 1' &&
      Array.isArray(bundle.entries) &&
      bundle.entries.every((entry) => typeof entry === 'object' && entry !== null) &&
      typeof bundle.publicKey === 'string' &&
      typeof bundle.signature === 'string';
    return isBundle ? bundle : undefined;
  } catch {
    return undefined;
  }
}

function textOf(signed: Omit<Bundle, 'signature'>): Buffer {
  return Buffer.from(JSON.stringify(signed));
}

function no(why: string): Verified {
  return { ok: false, why };
}

/** RFC 8410: the prefix of the 32 bytes of a key. */
const privatePrefix = Buffer.from('302e020100300506032b657004220420', 'hex');
const publicPrefix = Buffer.from('302a300506032b6570032100', 'hex');

function privateKeyOf(secret: Buffer): KeyObject {
  const der = Buffer.concat([privatePrefix, secret.subarray(0, 32)]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

/** The public key that belongs to a sealing key. */
export function publicKeyTextOf(secret: Buffer): string {
  return publicTextOf(createPublicKey(privateKeyOf(secret)));
}

function publicTextOf(key: KeyObject): string {
  return key.export({ format: 'der', type: 'spki' }).subarray(publicPrefix.length).toString('base64url');
}

function publicKeyOf(text: string): KeyObject | undefined {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== 32 || bytes.toString('base64url') !== text) return undefined;
  return createPublicKey({ key: Buffer.concat([publicPrefix, bytes]), format: 'der', type: 'spki' });
}
