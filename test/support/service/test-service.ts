// The whole service inside a test: real PostgreSQL, real HTTP handling (injected), a clock under the test's control.
import type { InjectOptions } from 'fastify';
import { instantAt, type Clock } from '../../../src/clock.ts';
import { buildService, type RunningService } from '../../../src/app/compose.ts';
import { foundationOn, type Foundation, type Network } from '../../../src/app/composition/foundation.ts';
import { readConfig } from '../../../src/app/config.ts';
import { scopes } from '../../../src/platform/http/access.ts';
import { randomIds } from '../../../src/ids.ts';
import { realPause } from '../../../src/platform/jobs/waits.ts';
import { openLog } from '../../../src/platform/log.ts';
import { insertParty, insertShop } from '../../../src/merchants/store/parties.ts';
import { livemodeOf } from '../../../src/livemode.ts';
import { openSender } from '../../../src/webhooks/delivery/http-sender.ts';
import { openPatientLink } from '../bank/patient-link.ts';
import { createTestDatabase, type TestDatabase } from '../database/test-database.ts';
import { defined } from '../../../src/defined.ts';
import { quickKeyPairs } from './quick-key-pairs.ts';

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number | string[] | undefined>>;
  readonly text: string;
  /** The parsed JSON; undefined when the response is empty. */
  readonly body: any;
};

export type Merchant = { readonly partyId: string; readonly apiKey: string };

export type TestService = Foundation &
  RunningService & {
    readonly clock: TestClock;
    /** Every log line. */
    readonly logged: string[];
    readonly testDatabase: TestDatabase;
    /** A party with the shops TEST (RUB), TEST_USD and TEST_EUR and a key with every scope. */
    createMerchant(): Promise<Merchant>;
    call(method: InjectOptions['method'], url: string, options?: CallOptions): Promise<Answer>;
    close(): Promise<void>;
  };

export type CallOptions = {
  token?: string;
  body?: unknown;
  /** Added to, or with undefined taken from, the usual ones. */
  headers?: Record<string, string | undefined>;
};

export type TestClock = Clock & { advance(ms: number): void; set(epochMs: number): void };

export async function startTestService(
  environment: Record<string, string> = {},
  /** Runs before the service is ready, for instance to add routes. */
  prepare: (service: RunningService) => void = () => {},
  /** A database instead of the usual one, used as the owner of its tables; it is dropped in the end. */
  database?: TestDatabase,
  network: Network = { openLink: openPatientLink, openSender },
): Promise<TestService> {
  const testDatabase = database ?? (await createTestDatabase());
  const logged: string[] = [];
  const log = openLog({
    level: 'debug',
    human: false,
    destination: { write: (line) => void logged.push(line) },
  });
  const clock = testClock();
  const config = readConfig(
    {
      DATABASE_URL: testDatabase.url,
      MANDATE_MASTER_KEY:
        environment['MANDATE_MODE'] === 'live'
          ? 'xIRmjtfwL9GGfTQrmVrYsTugHVIGYTJIdyaakdofOPk='
          : Buffer.alloc(32, 7).toString('base64'),
      REQUESTS_PER_SECOND: '0',
      CARD_TESTING_LIMITS: 'off',
      FAILED_AUTHENTICATIONS_PER_MINUTE: '0',
      TEMPLATE_INVOICES_PER_HOUR: '0',
      TEMPLATE_INVOICES_PER_HOUR_IN_ALL: '0',
      ...environment,
    },
    process.cwd(),
  );
  // A payer who came back waits for the jobs, and only for a job that does not end by the clock.
  const pause = (ms: number) => Promise.race([service.jobs.whenIdle(), realPause(ms)]);
  // Each gauge is read, however slow the machine is.
  const longestGaugeReadMs = 600_000;
  const foundation = await foundationOn(
    { database: database?.database ?? testDatabase.asService, close: () => testDatabase.drop() },
    config,
    log,
    { clock, ids: randomIds, makeKeyPairs: quickKeyPairs, pause, longestGaugeReadMs, network },
  );
  const service: RunningService = buildService(foundation);
  prepare(service);
  await service.app.ready();

  return {
    ...foundation,
    ...service,
    clock,
    logged,
    testDatabase,
    createMerchant: () => createMerchant(foundation),
    call: callsTo(service),
    async close() {
      await service.stop();
      await foundation.close();
    },
  };
}

/** Requests without a socket, through all of the HTTP handling. */
export function callsTo({ app }: Pick<RunningService, 'app'>): TestService['call'] {
  return async (method, url, { token, body, headers = {} } = {}) => {
    const usual: Record<string, string | undefined> = {
      'x-request-id': 'test',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    };
    const sent = Object.fromEntries(Object.entries(usual).filter(([, value]) => value !== undefined));
    const answer = await app.inject({
      ...defined({ method }),
      url,
      headers: sent as Record<string, string>,
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const isJson = answer.body !== '' && String(answer.headers['content-type']).includes('json');
    return {
      status: answer.statusCode,
      headers: answer.headers,
      text: answer.body,
      body: isJson ? JSON.parse(answer.body) : undefined,
    };
  };
}

async function createMerchant({ config, database, apiKeys, ports }: Foundation): Promise<Merchant> {
  const party_id = ports.ids.next();
  const created_at = ports.clock.now();
  await database.run(insertParty, { party_id, name: 'Merchant', created_at });
  for (const [shop_id, currency] of [
    ['TEST', 'RUB'],
    ['TEST_USD', 'USD'],
    ['TEST_EUR', 'EUR'],
  ] as const) {
    const shop = {
      party_id,
      shop_id,
      livemode: livemodeOf(config.mode),
      name: shop_id,
      url: 'https://shop.example',
    };
    await database.run(insertShop, { ...shop, category_id: 1, currency, created_at });
  }
  return { partyId: party_id, apiKey: await apiKeys.create({ partyId: party_id, name: 'test', scopes }) };
}

/** Starts in 2026 and stands still until it is moved. */
export function testClock(): TestClock {
  let epochMs = Date.UTC(2026, 0, 19, 10, 0, 0, 123);
  return {
    now: () => instantAt(epochMs),
    advance: (ms) => void (epochMs += ms),
    set: (to) => void (epochMs = to),
  };
}
