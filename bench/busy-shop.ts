// npm run bench:charge: measures complete charges on one node for 100 shops, one shop, and one shop without balance shards.
// A commit takes 100 ms here, so that waiting for another commit shows in the result.
import { setTimeout as sleep } from 'node:timers/promises';
import { acquirerUncleared, feeIncome, settlementAccount } from '../src/platform/ledger/domain/account.ts';
import { shardAccount } from '../src/platform/ledger/store/journals.ts';
import { setShopFees } from '../src/merchants/store/parties.ts';
import type { Currency } from '../src/money.ts';
import { readOptions, wholeNumber } from '../tools/script-options.ts';
import { compare, type Alternative } from './harness/compare.ts';
import { bankId, openPrivateService, partyId } from './harness/private-service.ts';

const { words } = readOptions(
  `npm run bench:charge -- [SECONDS]
Measures charges per second on one node, from the invoice to the captured payment. Compare only the ratios of one run.
  SECONDS  for each of the three cases; 12 by default
Example: npm run bench:charge -- 30`,
  {},
  { maxWords: 1 },
);
const clients = 32;
const rounds = 6;
const seconds = wholeNumber('the number of seconds', words[0] ?? '12');
const commitMs = 100;
const pollMs = 10;

type Shops = { readonly currency: Currency; readonly shopIds: readonly string[] };

const { db, openShop, call, close } = await openPrivateService({
  connections: clients + 4,
  settings: { commit_delay: String(commitMs * 1_000), commit_siblings: '0' },
});
try {
  // A currency for each case keeps their accounts apart: bank and fees have one account per currency.
  const hundred = await openShops(100, 'RUB');
  const one = await openShops(1, 'USD');
  const flat = await openShops(1, 'EUR');
  for (const shops of [hundred, one, flat]) await charge(shops, shops.shopIds[0] ?? '');
  await flatten(flat);
  console.log(`A commit takes ${commitMs} ms.`);
  await compare(
    [
      alternative('100 shops', hundred),
      alternative('1 shop', one),
      alternative('1 shop, one row per account', flat),
    ],
    { clients, rounds, roundMs: (seconds * 1_000) / rounds },
    { unit: 'charges', first: 'the first' },
  );
} finally {
  await close();
}

async function openShops(count: number, currency: string): Promise<Shops> {
  const shopIds = Array.from({ length: count }, (_, index) => `${currency}-${index}`);
  const fees = { processing: { basisPoints: 250n, fixedMinor: 0n } };
  for (const shopId of shopIds) {
    await openShop({ shopId, currency });
    await db.run(setShopFees, { party_id: partyId, shop_id: shopId, fees });
  }
  return { currency: currency as Currency, shopIds };
}

/** Gives each account of these shops' charges a single balance row. */
async function flatten({ currency, shopIds }: Shops): Promise<void> {
  const kind = { livemode: false, currency } as const;
  const accounts = [
    acquirerUncleared({ ...kind, acquirerId: bankId }),
    feeIncome({ ...kind, fee: 'processing' }),
    ...shopIds.map((shopId) => settlementAccount({ ...kind, partyId, shopId })),
  ];
  for (const { id } of accounts) await db.transaction((tx) => shardAccount(tx, id, 0));
}

function alternative(name: string, shops: Shops): Alternative {
  let next = 0;
  const { shopIds } = shops;
  return { name, work: () => charge(shops, shopIds[next++ % shopIds.length] ?? '') };
}

async function charge({ currency }: Pick<Shops, 'currency'>, shopID: string): Promise<void> {
  const invoices = '/v2/processing/invoices';
  const order = { shopID, currency, amount: 100_000, product: 'Bench', dueDate: '2049-01-01T00:00:00Z' };
  const { invoice } = await done('POST', invoices, order);
  const { paymentToolToken } = await done('POST', '/v2/processing/payment-resources', {
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
  await done('POST', payments, { flow: { type: 'PaymentFlowInstant' }, payer });
  for (;;) {
    const { status } = await done('GET', `${payments}/1`);
    if (status === 'captured') return;
    if (status !== 'pending') throw new Error(`Payment ${invoice.id} is ${status}, not captured.`);
    await sleep(pollMs);
  }
}

async function done(method: 'GET' | 'POST', url: string, body?: object): Promise<any> {
  const answer = await call(method, url, body);
  if (answer.status >= 300)
    throw new Error(`${method} ${url}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
