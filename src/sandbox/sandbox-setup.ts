// Creates a sandbox's party, shops and API key on the first start, and writes the key to a file only its owner can read.
// Live mode has no such file.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../error-code.ts';
import type { Banks } from '../acquiring/banks.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { allScopes } from '../platform/http/access.ts';
import type { ApiKeys } from '../merchants/api-keys.ts';
import { insertParty, insertShop } from '../merchants/store/parties.ts';

export type SandboxInfo = {
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly shopID: string;
  readonly bankUrl: string;
  readonly docsUrl: string;
  readonly demoUrl: string;
};

const partyId = 'SANDBOX';
const shops = [
  { shop_id: 'TEST', name: 'Test shop', currency: 'RUB' },
  { shop_id: 'TEST_USD', name: 'Test shop in dollars', currency: 'USD' },
  { shop_id: 'TEST_EUR', name: 'Test shop in euros', currency: 'EUR' },
] as const;
export const sandboxShopIds = shops.map(({ shop_id }) => shop_id);

/** Creates what is missing and writes `sandbox.json`. Several nodes may run it in parallel. */
export async function setUpSandbox(options: {
  db: Database;
  clock: Clock;
  apiKeys: ApiKeys;
  banks: Banks;
  bank: { id: string; url: string; secret: string };
  dataFolder: string;
  publicUrl: string;
}): Promise<SandboxInfo> {
  const { db, clock, apiKeys, banks, bank, dataFolder, publicUrl } = options;
  const created_at = clock.now();
  await db.run(insertParty, { party_id: partyId, name: 'Sandbox', created_at });
  const ofAll = {
    party_id: partyId,
    livemode: false,
    url: 'https://shop.example',
    category_id: 1,
    created_at,
  };
  for (const shop of shops) await db.run(insertShop, { ...shop, ...ofAll });
  await banks.putBank(bank);
  // A terminal is named after its bank, because several nodes may each run a bank of their own.
  const own = { id: bank.id, bankId: bank.id, partyId };
  const ofShops = shops.map(({ shop_id: shopId, name: descriptor }) => {
    return { ...own, shopId, merchantId: shopId, descriptor };
  });
  const ofPayouts = { ...own, merchantId: 'PAYOUTS', descriptor: 'Sandbox' };
  await banks.putSandboxTerminals({ ofShops, ofPayouts }, { id: bank.id, partyId });
  const known = readSandboxFacts(dataFolder)?.apiKey;
  const works = known !== undefined && (await apiKeys.authenticate(known)) !== undefined;
  const apiKey = works ? known : await apiKeys.create({ partyId, name: 'sandbox', scopes: [allScopes] });
  const facts: SandboxInfo = {
    apiUrl: publicUrl,
    apiKey,
    shopID: 'TEST',
    bankUrl: bank.url,
    docsUrl: `${publicUrl}/docs`,
    demoUrl: `${publicUrl}/demo`,
  };
  writeFacts(dataFolder, facts);
  return facts;
}

/** Undefined before the first start. */
export function readSandboxFacts(dataFolder: string): SandboxInfo | undefined {
  try {
    return JSON.parse(readFileSync(infoFile(dataFolder), 'utf8')) as SandboxInfo;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new Error(
      `${infoFile(dataFolder)} cannot be read (${String(error)}). Remove the file and start again.`,
      {
        cause: error,
      },
    );
  }
}

/** Writes a temporary file and renames it, so that a reader never sees half of it. */
function writeFacts(dataFolder: string, facts: SandboxInfo): void {
  mkdirSync(dataFolder, { recursive: true });
  const aside = `${infoFile(dataFolder)}.${process.pid}`;
  writeFileSync(aside, JSON.stringify(facts, null, 2) + '\n', { mode: 0o600 });
  renameSync(aside, infoFile(dataFolder));
}

function infoFile(dataFolder: string): string {
  return join(dataFolder, 'sandbox.json');
}
