// mandate keys: API keys, and the key that signs access tokens.
import { modeName } from '../../livemode.ts';
import { systemClock } from '../../clock.ts';
import { allScopes, scopes } from '../../platform/http/access.ts';
import { apiKeysOf, endApiKey } from '../../merchants/api-keys.ts';
import { printTable, requireName, requireParty, withDatabase, withFoundation } from '../foundation.ts';
import { printJson } from '../json-members.ts';

export async function createKey(options: { party: string; name: string; scopes?: string }): Promise<void> {
  requireName(options.name);
  const wanted = options.scopes?.split(',').map((scope) => scope.trim()) ?? [allScopes];
  const unknown = wanted.filter((scope) => ![allScopes, ...scopes].includes(scope));
  if (unknown.length > 0) {
    throw new Error(`Unknown scope "${unknown.join(', ')}". Use one or more of: ${scopes.join(', ')}.`);
  }
  const text = await withFoundation(async ({ database, apiKeys }) => {
    await requireParty(database, options.party);
    return apiKeys.create({ partyId: options.party, name: options.name, scopes: wanted });
  });
  showOnce(text);
}

export async function listKeys(options: { party: string; json?: true }): Promise<void> {
  const keys = await withDatabase(async (database) => {
    await requireParty(database, options.party);
    return apiKeysOf(database, options.party);
  });
  if (options.json) {
    return printJson(
      'keys list',
      keys.map((key) => ({ ...key, mode: modeName(key.livemode) })),
    );
  }
  printTable(
    ['key', 'mode', 'name', 'created', 'expires', 'scopes'],
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
    throw new Error(`--overlap is "${options.overlap}". Use a number of hours from 0 to 8760.`);
  requireKeyId(keyId);
  const text = await withFoundation(({ apiKeys }) => apiKeys.rotate(keyId, hours * 3_600_000));
  if (text === undefined)
    throw new Error(
      `Key ${keyId} not found, or no longer valid. List keys with "mandate keys list --party <id>", or create one with "mandate keys create".`,
    );
  showOnce(text);
  console.error(`The old key works for another ${hours} hours, or until it expires if that is earlier.`);
}

export async function revokeKey(keyId: string): Promise<void> {
  requireKeyId(keyId);
  const found = await withDatabase((database) => endApiKey(database, keyId, systemClock.now()));
  if (!found) throw new Error(`Key ${keyId} not found. List keys with "mandate keys list --party <id>".`);
  console.log(`Revoked ${keyId}.`);
}

export async function rotateSigningKey(): Promise<void> {
  const keyVersion = await withFoundation(({ keyring }) => keyring.rotate('access_token'));
  console.log(`Every node signs new access tokens with key version ${keyVersion} within a minute.`);
}

/** A whole key is not repeated: a terminal or a log may keep the message. */
function requireKeyId(text: string): void {
  const [, keyId] = /^mandate_[a-z]+_([^_]+)/.exec(text) ?? [];
  if (keyId !== undefined)
    throw new Error(
      `This is an API key. Use its ID, the part between the second and third underscore: ${keyId}.`,
    );
}

/** Only the key goes to standard output, so that a script can store it. */
function showOnce(text: string): void {
  console.log(text);
  console.error('Store the key now: it cannot be shown again.');
}
