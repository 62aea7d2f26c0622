// mandate keys: API keys made, listed, rotated and ended; the signing key of access tokens rotated.
import { modeName } from '../../livemode.ts';
import { systemClock } from '../../clock.ts';
import { allScopes, scopes } from '../../platform/http/access.ts';
import { apiKeysOf, endApiKey, type ApiKey } from '../../merchants/api-keys.ts';
import { printTable, requireParty, withDatabase, withFoundation } from '../foundation.ts';

export async function createKey(options: { party: string; name: string; scopes?: string }): Promise<void> {
  const wanted = options.scopes?.split(',').map((scope) => scope.trim()) ?? [allScopes];
  const unknown = wanted.filter((scope) => ![allScopes, ...scopes].includes(scope));
  if (unknown.length > 0) {
    throw new Error(`there is no scope ${unknown.join(', ')}; there are ${scopes.join(', ')}`);
  }
  const text = await withFoundation(async ({ database, apiKeys }) => {
    await requireParty(database, options.party);
    return apiKeys.create({ partyId: options.party, name: options.name, scopes: wanted });
  });
  showOnce(text);
}

export async function listKeys(options: { party: string; json?: true }): Promise<void> {
  const keys = await withDatabase((database) => apiKeysOf(database, options.party));
  if (options.json) return console.log(JSON.stringify(keys.map(toJson), null, 2));
  printTable(
    ['key', 'mode', 'name', 'made', 'ends', 'scopes'],
    keys.map((key) => [
      key.keyId,
      modeName(key.livemode),
      key.name,
      key.createdAt.slice(0, 19),
      key.revokedAt ? `revoked ${key.revokedAt.slice(0, 19)}` : (key.expiresAt?.slice(0, 19) ?? '-'),
      key.scopes.join(','),
    ]),
  );
}

export async function rotateKey(keyId: string, options: { overlap: string }): Promise<void> {
  const hours = Number(options.overlap);
  if (options.overlap.trim() === '' || !(hours >= 0 && hours <= 24 * 365))
    throw new Error('--overlap must be a number of hours, a year at most');
  const text = await withFoundation(({ apiKeys }) => apiKeys.rotate(keyId, hours * 3_600_000));
  if (text === undefined) throw new Error(`there is no living key ${keyId}`);
  showOnce(text);
  console.error(`The old key works for another ${hours} hours, or less if it had an end before.`);
}

export async function revokeKey(keyId: string): Promise<void> {
  const found = await withDatabase((database) => endApiKey(database, keyId, systemClock.now()));
  if (!found) throw new Error(`there is no key ${keyId}`);
  console.log(`${keyId} is revoked.`);
}

export async function rotateSigningKey(): Promise<void> {
  const keyVersion = await withFoundation(({ keyring }) => keyring.rotate('access_token'));
  console.log(`New access tokens are signed with key version ${keyVersion}, by every node within a minute.`);
}

/** The key alone on standard output, so that a script can keep it; the advice beside it. */
function showOnce(text: string): void {
  console.log(text);
  console.error('Keep it now: it is not stored and cannot be shown again.');
}

function toJson({ livemode, ...key }: ApiKey) {
  return { ...key, mode: modeName(livemode) };
}
