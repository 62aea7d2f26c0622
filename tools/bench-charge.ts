// How many whole charges a second one node takes, from the order to the captured payment, with everything that belongs to it:
// API, vault, bank, events, ledger, on a private PostgreSQL. A hundred shops, one busy shop, and one whose accounts are not
// spread over shards. Each commit is made to take 100 ms: what waits for another's commit shows, and the processor does not
// hide it. Only the ratios of one run mean anything. `npx tsx tools/bench-charge.ts [seconds for each, 12 by default]`
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../src/clock.ts';
import { buildService, foundationOn } from '../src/app/compose.ts';
import { readConfig } from '../src/app/config.ts';
import { openDatabase } from '../src/platform/database/database.ts';
import { startEmbedded } from '../src/sandbox/postgres/server.ts';
import { allScopes } from '../src/platform/http/access.ts';
import { randomIds } from '../src/ids.ts';
import { acquirerUncleared, feeIncome, settlementAccount } from '../src/platform/ledger/domain/account.ts';
import { spreadAccount } from '../src/platform/ledger/store/journals.ts';
import { openLog } from '../src/platform/log.ts';
import { insertParty, insertShop, setShopFees } from '../src/merchants/store/parties.ts';
import type { Currency } from '../src/money.ts';
import { openSimulatedBank } from '../src/sandbox/bank/simulated-bank.ts';
import { temporaryFolder } from '../test/support/test-cluster.ts';
import { readOptions, wholeNumber } from './script-options.ts';

const { words } = readOptions(
  `
npm run bench:charge -- [12]
  how many whole charges a second one node takes; for so many seconds`,
  {},
  { wordsMost: 1 },
);
const clients = 32;
const rounds = 6;
const seconds = wholeNumber('the number of seconds', words[0] ?? '12');
const commitMs = 100;
const lookEveryMs = 10;
const bankSecret = 'a secret of the bench that is long enough';

/** As much of any answer as is looked at here. */
type Body = {
  readonly invoice: { readonly id: string };
  readonly paymentToolToken: string;
  readonly status: string;
};

type Contender = {
  readonly name: string;
  readonly currency: Currency;
  readonly shopIds: readonly string[];
  latenciesMs: number[];
};

const { folder, remove } = temporaryFolder();
const server = await startEmbedded({
  dataFolder: folder,
  log: () => {},
  machine: { openFolder: folder },
  settings: { commit_delay: String(commitMs * 1_000), commit_siblings: '0' },
});
const database = openDatabase({ connection: server.connection, maxConnections: clients + 4 });
const log = openLog({ level: 'error', human: false });
const ports = { clock: systemClock, ids: randomIds };
const config = readConfig(
  {
    DATABASE_URL: 'postgresql://opened.already',
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    REQUESTS_PER_SECOND: '0',
  },
  folder,
);
const foundation = await foundationOn({ database, close: () => database.end() }, config, log, ports);
const service = buildService(foundation);
const bank = await openSimulatedBank({ clock: systemClock, secret: bankSecret, log });
const partyId = 'BENCH';
try {
  await service.app.ready();
  await database.run(insertParty, { party_id: partyId, name: 'Bench', created_at: systemClock.now() });
  await service.banks.putBank({ id: 'BANK', url: bank.url, secret: bankSecret });
  const apiKey = await foundation.apiKeys.create({ partyId, name: 'bench', scopes: [allScopes] });
  // Each keeps to accounts of its own: those of the bank and of the fees are one for each currency.
  const contenders = [
    await contender('100 shops', 100, 'RUB'),
    await contender('1 shop', 1, 'USD'),
    await contender('1 shop, one row an account', 1, 'EUR'),
  ];
  for (const one of contenders) await charge(one, one.shopIds[0] ?? '', apiKey);
  const [, , flat] = contenders;
  if (flat) await flatten(flat);
  for (let round = 0; round < rounds; round++) {
    for (const one of contenders) await race(one, apiKey);
  }
  print(contenders);
} finally {
  await service.stop();
  await bank.stop();
  await foundation.close();
  await server.stop();
  await remove();
}

async function contender(name: string, shops: number, currency: string): Promise<Contender> {
  const shopIds = Array.from({ length: shops }, (_, index) => `${currency}-${index}`);
  const openShop = async (shop_id: string) => {
    const created_at = systemClock.now();
    const shop = { party_id: partyId, shop_id, livemode: false, name: shop_id, url: 'https://shop.example' };
    await database.run(insertShop, { ...shop, category_id: 1, currency, created_at });
    const fees = { processing: { basisPoints: 250, fixedMinor: 0 } };
    await database.run(setShopFees, { party_id: partyId, shop_id, fees });
    const terminal = { id: 'T1', bankId: 'BANK', merchantId: shop_id, descriptor: 'BENCH' };
    await service.banks.putTerminal({ ...terminal, partyId, shopId: shop_id, priority: 1 });
  };
  await Promise.all(shopIds.map(openShop));
  return { name, currency: currency as Currency, shopIds, latenciesMs: [] };
}

/** All that every charge of theirs goes through becomes one row for each account. */
async function flatten({ currency, shopIds }: Contender): Promise<void> {
  const kind = { livemode: false, currency } as const;
  const accounts = [
    acquirerUncleared({ ...kind, acquirerId: 'BANK' }),
    feeIncome({ ...kind, fee: 'processing' }),
    ...shopIds.map((shopId) => settlementAccount({ ...kind, partyId, shopId })),
  ];
  for (const { id } of accounts) await database.transaction((tx) => spreadAccount(tx, id, 0));
}

async function race({ shopIds, latenciesMs, ...one }: Contender, apiKey: string): Promise<void> {
  const end = performance.now() + (seconds * 1_000) / rounds;
  let next = 0;
  const client = async () => {
    for (let start = performance.now(); start < end; start = performance.now()) {
      await charge(one, shopIds[next++ % shopIds.length] ?? '', apiKey);
      latenciesMs.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  await sleep(100); // what the server still flushes is not the next one's
}

async function charge({ currency }: Pick<Contender, 'currency'>, shopID: string, apiKey: string) {
  const invoices = '/v2/processing/invoices';
  const order = { shopID, currency, amount: 100_000, product: 'Bench', dueDate: '2049-01-01T00:00:00Z' };
  const { invoice } = await call('POST', invoices, apiKey, order);
  const { paymentToolToken } = await call('POST', '/v2/processing/payment-resources', apiKey, {
    paymentTool: {
      paymentToolType: 'CardData',
      cardNumber: '4242424242424242',
      expDate: '12/49',
      cvv: '123',
    },
    clientInfo: { fingerprint: 'bench' },
  });
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
  const payments = `${invoices}/${invoice.id}/payments`;
  await call('POST', payments, apiKey, { flow: { type: 'PaymentFlowInstant' }, payer });
  for (;;) {
    const { status } = await call('GET', `${payments}/1`, apiKey);
    if (status === 'captured') return;
    if (status !== 'pending') throw new Error(`a payment of the bench is ${status}`);
    await sleep(lookEveryMs);
  }
}

async function call(method: 'GET' | 'POST', url: string, apiKey: string, body?: object): Promise<Body> {
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'x-request-id': 'bench',
    ...(body ? { 'content-type': 'application/json' } : {}),
  };
  const answer = await service.app.inject({ method, url, headers, ...(body ? { payload: body } : {}) });
  if (answer.statusCode >= 300) throw new Error(`${method} ${url}: ${answer.statusCode} ${answer.body}`);
  return answer.json<Body>();
}

function print(contenders: readonly Contender[]): void {
  console.log(`${clients} clients, ${seconds} s for each in ${rounds} rounds, ${commitMs} ms for a commit\n`);
  console.log('| | charges/s | of the first | p50 ms | p99 ms |\n| --- | ---: | ---: | ---: | ---: |');
  const perSecond = contenders.map(({ latenciesMs }) => latenciesMs.length / seconds);
  const [floor = 1] = perSecond;
  for (const [index, { name, latenciesMs }] of contenders.entries()) {
    const sorted = latenciesMs.toSorted((a, b) => a - b);
    const quantile = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(0);
    const rate = perSecond[index] ?? 0;
    const share = ((100 * rate) / floor).toFixed(0);
    console.log(`| ${name} | ${rate.toFixed(0)} | ${share} % | ${quantile(0.5)} | ${quantile(0.99)} |`);
  }
}
