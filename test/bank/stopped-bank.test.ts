// A bank that is stopped while an operation waits for it: another node or an operator may have done it.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { testClock } from '../support/service/test-service.ts';
import { openKeyring, type Keyring } from '../../src/platform/keys/keyring.ts';
import { localMasterKey } from '../../src/platform/keys/master-key.ts';
import { openBankHealth } from '../../src/acquiring/health/bank-health.ts';
import { openBankRegistry } from '../../src/acquiring/bank-registry.ts';
import type { Bank, BankOperation } from '../../src/acquiring/domain/bank-port.ts';

const clock = testClock();
const terminal = { id: 'T1', bankId: 'B', merchantId: 'M1', descriptor: 'SHOP' };
const reversal: BankOperation = {
  operationId: 'a',
  terminal,
  kind: 'reverse',
  originalId: 'b',
} as never;
let db: TestDatabase;
let keyring: Keyring;
beforeAll(async () => {
  db = await createTestDatabase();
  keyring = await openKeyring(db.database, localMasterKey(randomBytes(32)), clock);
});
afterAll(async () => {
  keyring.stop();
  await db.drop();
});

/** Whether an operation may still be sent after `meanwhile` has happened during its wait. */
async function mayStillAfter(
  meanwhile: (registry: ReturnType<typeof openBankRegistry>) => Promise<unknown>,
  isAllowed = true,
): Promise<boolean> {
  let answer = false;
  const bank = {
    async send(_: BankOperation, mayStill: () => Promise<boolean>) {
      await meanwhile(registry);
      answer = await mayStill();
      return { outcome: 'notSent', why: 'it waited', turnedAway: true } as const;
    },
  } as unknown as Bank;
  const registry = openBankRegistry(
    {
      db: db.database,
      lookups: db.database,
      clock,
      keyring,
      adapterFor: () => bank,
      observe: () => undefined,
    },
    openBankHealth(() => 0),
  );
  await registry.putBank({ id: 'B', url: 'https://bank.example', secret: 'x'.repeat(32) });
  await stop(null);
  await (await registry.bankOf(terminal)).send(reversal, () => isAllowed);
  return answer;
}

const stop = (at: string | null) =>
  db.database.withClient((client) => client.query('update bank set stopped_at = $1', [at]));

test('what waits is sent if nothing has happened', async () => {
  expect(await mayStillAfter(() => Promise.resolve())).toBe(true);
  expect(await mayStillAfter(() => Promise.resolve(), false)).toBe(false);
});

test('what waits is not sent to a bank that was stopped meanwhile', async () =>
  expect(await mayStillAfter((registry) => stop(clock.now()).then(() => registry.forget('B')))).toBe(false));

test('what waits is not sent before the report is read that may stop the bank', async () => {
  let isRead = false;
  const reading = (registry: ReturnType<typeof openBankRegistry>) => {
    const read = new Promise((resolve) => setImmediate(resolve)).then(() => (isRead = true));
    void registry.sendAfter('B', read);
    return Promise.resolve();
  };
  expect(await mayStillAfter(reading)).toBe(true);
  expect(isRead).toBe(true);
});
