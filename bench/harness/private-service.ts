// The service in this process, on a private PostgreSQL and a simulated bank, with a party and its API key.
import { systemClock } from '../../src/clock.ts';
import { buildService } from '../../src/app/compose.ts';
import { foundationOn } from '../../src/app/composition/foundation.ts';
import { readConfig } from '../../src/app/config.ts';
import { allScopes } from '../../src/platform/http/access.ts';
import { randomIds } from '../../src/ids.ts';
import { openLog } from '../../src/platform/log.ts';
import { insertParty, insertShop } from '../../src/merchants/store/parties.ts';
import { openSimulatedBank } from '../../src/sandbox/bank/simulated-bank.ts';
import { openPrivateDatabase, type PrivateDatabase } from './private-database.ts';

const secret = 'a secret of the bench that is long enough';
export const partyId = 'BENCH';
export const bankId = 'BANK';

export type PrivateService = Pick<PrivateDatabase, 'db'> &
  Pick<ReturnType<typeof buildService>, 'jobs'> & {
    openShop(shop: { readonly shopId: string; readonly currency: string }): Promise<void>;
    call(
      method: 'GET' | 'POST',
      url: string,
      body?: object,
    ): Promise<{ readonly status: number; readonly body: any }>;
    close(): Promise<void>;
  };

export async function openPrivateService(
  options: Parameters<typeof openPrivateDatabase>[0],
): Promise<PrivateService> {
  const { db, folder, close: closeDatabase } = await openPrivateDatabase(options);
  const log = openLog({ level: 'error', human: false });
  const environment = {
    DATABASE_URL: 'postgresql://opened.already',
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    REQUESTS_PER_SECOND: '0',
    CARD_TESTING_LIMITS: 'off',
  };
  const opened = { database: db, close: () => Promise.resolve() };
  const ports = { clock: systemClock, ids: randomIds };
  const foundation = await foundationOn(opened, readConfig(environment, folder), log, ports);
  const { app, banks, jobs, stop } = buildService(foundation);
  const bank = await openSimulatedBank({ clock: systemClock, secret, log });
  await app.ready();
  await db.run(insertParty, { party_id: partyId, name: 'Bench', created_at: systemClock.now() });
  await banks.putBank({ id: bankId, url: bank.url, secret });
  const apiKey = await foundation.apiKeys.create({ partyId, name: 'bench', scopes: [allScopes] });
  const authorization = `Bearer ${apiKey}`;

  return {
    db,
    jobs,
    async openShop({ shopId, currency }) {
      const shop = {
        party_id: partyId,
        shop_id: shopId,
        livemode: false,
        name: shopId,
        url: 'https://shop.example',
      };
      await db.run(insertShop, { ...shop, category_id: 1, currency, created_at: systemClock.now() });
      const terminal = { id: 'T1', bankId, merchantId: shopId, descriptor: 'BENCH' };
      await banks.putTerminal({ ...terminal, partyId, shopId, priority: 1 });
    },
    async call(method, url, body) {
      const headers = { authorization, 'x-request-id': 'bench' };
      const answer = await app.inject({
        method,
        url,
        ...(body
          ? { headers: { ...headers, 'content-type': 'application/json' }, payload: JSON.stringify(body) }
          : { headers }),
      });
      return { status: answer.statusCode, body: answer.json() };
    },
    async close() {
      await stop();
      await bank.stop();
      await foundation.close();
      await closeDatabase();
    },
  };
}
