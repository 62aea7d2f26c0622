// Creates a sandbox's party, shops and API key on the first start, and writes the key to a file only its owner can read.
// Live mode has no such file.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../error-code.ts';
import type { Banks } from '../acquiring/banks.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { allScopes } from '../platform/http/access.ts';
import { makeFolder } from '../platform/make-folder.ts';
import type { ApiKeys } from '../merchants/api-keys.ts';
import { insertParty, insertShop } from '../merchants/store/parties.ts';
import { isAliveBesideUs } from './alive.ts';

export type SandboxInfo = {
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly shopID: string;
  readonly bankUrl: string;
  readonly docsUrl: string;
  readonly demoUrl: string;
};

/** What `sandbox.json` holds while nodes run: the one that has run the longest, and those that started after it. */
type StoredInfo = NodeInfo & { readonly after?: readonly NodeInfo[] };
/** Files of 0.2.0 lack the process ID. The host of a container is the container. */
type NodeInfo = SandboxInfo & { readonly pid?: number; readonly host?: string };

const partyId = 'SANDBOX';
export { partyId as sandboxPartyId };
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
  // A bank of a sandbox often outlives its database.
  await banks.share(bank.id);
  // A terminal is named after its bank, because several nodes may each run a bank of their own.
  const own = { id: bank.id, bankId: bank.id, partyId };
  const ofShops = shops.map(({ shop_id: shopId, name: descriptor }) => {
    return { ...own, shopId, merchantId: shopId, descriptor };
  });
  const ofPayouts = { ...own, merchantId: 'PAYOUTS', descriptor: 'Sandbox' };
  await banks.putSandboxTerminals({ ofShops, ofPayouts }, { id: bank.id, partyId });
  // Earlier versions kept the key in the other file alone.
  const known = readKey(dataFolder) ?? readSandboxFacts(dataFolder)?.apiKey;
  const works = known !== undefined && (await apiKeys.authenticate(known))?.kind === 'apiKey';
  const apiKey = works ? known : await apiKeys.create({ partyId, name: 'sandbox', scopes: [allScopes] });
  makeFolder(dataFolder);
  writeAside(keyFile(dataFolder), `${apiKey}\n`);
  const facts: SandboxInfo = {
    apiUrl: publicUrl,
    apiKey,
    shopID: 'TEST',
    bankUrl: bank.url,
    docsUrl: `${publicUrl}/docs`,
    demoUrl: `${publicUrl}/demo`,
  };
  writeNodes(dataFolder, [
    ...readNodes(dataFolder).filter(mayRun),
    { ...facts, pid: process.pid, host: hostname() },
  ]);
  return facts;
}

/** Leaves the file to the other nodes, in other containers too. The last one removes it; the API key is in a file of its own. */
export function leaveSandbox(dataFolder: string): void {
  const others = readNodes(dataFolder).filter(mayRun);
  if (others.length > 0) writeNodes(dataFolder, others);
  else rmSync(infoFile(dataFolder), { force: true });
}

/** Of the node here that has run the longest, else of the latest elsewhere, or of one that was killed. Undefined if there is none. */
export function readSandboxFacts(dataFolder: string): SandboxInfo | undefined {
  const nodes = readNodes(dataFolder);
  const found = nodes.find(isRunning) ?? nodes.findLast(mayRun) ?? nodes[0];
  if (!found) return undefined;
  const { pid: _pid, host: _host, ...facts } = found;
  return facts;
}

function isRunning({ pid, host = hostname() }: NodeInfo): boolean {
  return pid !== undefined && host === hostname() && isAliveBesideUs(pid);
}

/** The process of another container is not seen from here. */
function mayRun(node: NodeInfo): boolean {
  return isRunning(node) || (node.host !== undefined && node.host !== hostname());
}

function readNodes(dataFolder: string): NodeInfo[] {
  try {
    const { after = [], ...first } = JSON.parse(readFileSync(infoFile(dataFolder), 'utf8')) as StoredInfo;
    return [first, ...after];
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw new Error(
      `${infoFile(dataFolder)} cannot be read (${String(error)}). Remove the file and start again.`,
      {
        cause: error,
      },
    );
  }
}

function readKey(dataFolder: string): string | undefined {
  try {
    return readFileSync(keyFile(dataFolder), 'utf8').trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function writeNodes(dataFolder: string, [first, ...after]: readonly NodeInfo[]): void {
  makeFolder(dataFolder);
  const stored = { ...first, ...(after.length > 0 ? { after } : {}) };
  writeAside(infoFile(dataFolder), JSON.stringify(stored, null, 2) + '\n');
}

/** Writes a temporary file and renames it, so that a reader never sees half of it. */
function writeAside(file: string, text: string): void {
  const aside = `${file}.${hostname()}.${process.pid}`;
  writeFileSync(aside, text, { mode: 0o600 });
  renameSync(aside, file);
}

function infoFile(dataFolder: string): string {
  return join(dataFolder, 'sandbox.json');
}

function keyFile(dataFolder: string): string {
  return join(dataFolder, 'sandbox.key');
}
