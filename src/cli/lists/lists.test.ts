// mandate customers list, bindings list and series list find what the API lists.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandLine } from '../../../test/support/processes/command-line.ts';
import { startTestService } from '../../../test/support/service/test-service.ts';
import {
  startCustomerWorld,
  type CustomerWorld,
  type MadeBinding,
} from '../../../test/support/worlds/customer-world.ts';
import { recurringWorld, type Parent } from '../../../test/support/worlds/recurring.ts';

let world: CustomerWorld;
let saved: MadeBinding;
let failed: MadeBinding;
let parent: Parent;
beforeAll(async () => {
  world = await startCustomerWorld();
  saved = await world.bound(
    await world.createCustomer({ externalID: 'c-1', contactInfo: { email: 'anna@example.com' } }),
    '4242424242424242',
  );
  failed = await world.bound(await world.createCustomer(), '4000000000000002');
  parent = await recurringWorld(world).parent();
  await world.withdraw(saved);
  await world.service.jobs.whenIdle();
  await world.service.search.whenIdle();
});
afterAll(() => world.close());

const run = (...args: string[]) =>
  commandLine([...args.slice(0, 2), '--party', world.merchant.partyId, ...args.slice(2)], {
    DATABASE_URL: world.service.testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  });
/** The clock of the test may be far from that of the command. */
const anyTime = ['--since', '2025-01-01T00:00:00Z'];
const listed = async (...args: string[]) => {
  const { code, output, errors } = await run(...args, '--json');
  expect([code, errors]).toEqual([0, '']);
  return JSON.parse(output) as Record<string, unknown>[];
};

describe('mandate customers list', () => {
  test('finds by email, external ID, status and shop', async () => {
    const found = [expect.objectContaining({ customerId: saved.id, status: 'unready', externalId: 'c-1' })];
    expect(await listed('customers', 'list', '--email', 'Anna@example.com')).toEqual(found);
    expect(await listed('customers', 'list', '--external-id', 'c-1')).toEqual(found);
    expect(await listed('customers', 'list', '--status', 'ready', ...anyTime)).toEqual([]);
    expect(await listed('customers', 'list', '--shop', 'TEST', ...anyTime)).toHaveLength(2);
  });

  test('says when there are more, and when there is nothing', async () => {
    expect((await run('customers', 'list', '--limit', '1', ...anyTime)).output).toMatch(
      /^customer +shop +status.*\n[^\n]+\n\nThere are more\. List up to 1000 with --limit\.\n$/s,
    );
    expect((await run('customers', 'list', '--external-id', 'none')).output).toBe(
      'Nothing found. List older ones with --since.\n',
    );
  });

  test('refuses a shop of another merchant', async () => {
    const { partyId } = await world.createMerchant();
    const { code, errors } = await run('customers', 'list', '--shop', partyId);
    expect(code).not.toBe(0);
    expect(errors).toContain(`has no shop ${partyId}`);
  });
});

test('in live mode, a list is logged with who made it, and without what they looked for', async () => {
  const settings = {
    MANDATE_MODE: 'live',
    BANK_SECRET: 'a secret of the tests that is long enough',
    MANDATE_MASTER_KEY: 'xIRmjtfwL9GGfTQrmVrYsTugHVIGYTJIdyaakdofOPk=',
  };
  const live = await startTestService(settings);
  try {
    const { partyId } = await live.createMerchant();
    const lists = [
      'customers --email anna@example.com',
      'bindings --last4 4242',
      'series --customer customer-77',
    ];
    for (const [what = '', ...asked] of lists.map((text) => text.split(' '))) {
      const { errors } = await commandLine([what, 'list', '--party', partyId, ...asked], {
        ...settings,
        DATABASE_URL: live.testDatabase.url,
      });
      const facts = { level: 'info', party: partyId, by: expect.stringMatching(/.@./) };
      expect(JSON.parse(errors)).toMatchObject({ ...facts, msg: `${what} listed` });
      expect(errors).not.toContain(asked[1]);
    }
  } finally {
    await live.close();
  }
});

test('mandate bindings list finds by customer, status, card and error', async () => {
  const revoked = [expect.objectContaining({ customerId: saved.id, state: 'withdrawn', card: 'visa 4242' })];
  expect(await listed('bindings', 'list', '--customer', saved.id)).toEqual(revoked);
  expect(await listed('bindings', 'list', '--status', 'withdrawn', ...anyTime)).toEqual(revoked);
  expect(await listed('bindings', 'list', '--last4', '4242', ...anyTime)).toEqual(revoked);
  const [other] = await listed('bindings', 'list', '--error', 'authorization_failed', ...anyTime);
  expect(other).toMatchObject({ customerId: failed.id, bindingId: failed.bindingId, state: 'failed' });
  expect(other?.['error']).toMatch(/^authorization_failed:/);
});

test('mandate series list finds by root and by whether it can be charged', async () => {
  const seriesId = `${parent.invoiceID}.${parent.paymentID}`;
  expect(await listed('series', 'list', '--invoice', parent.invoiceID)).toEqual([
    expect.objectContaining({ seriesId, status: 'active', chargeable: true }),
  ]);
  const ended = [expect.objectContaining({ status: 'withdrawn', chargeable: false })];
  expect(await listed('series', 'list', '--customer', saved.id)).toEqual(ended);
  expect(await listed('series', 'list', '--ended', ...anyTime)).toEqual(ended);
  expect(await listed('series', 'list', '--chargeable', ...anyTime)).toHaveLength(1);
  const both = await run('series', 'list', '--invoice', 'I', '--customer', 'C');
  expect(both.errors).toContain('Give either --invoice or --customer.');
});

test('a list is at the time of the merchant', async () => {
  const ahead = await world.createMerchant();
  const token = ahead.apiKey;
  const made = await world.service.call('POST', '/v2/processing/customers', {
    token,
    body: { shopID: 'TEST', contactInfo: {}, metadata: {} },
  });
  expect(made.status, made.text).toBe(201);
  await world.service.search.whenIdle();
  const query = (text: string, values: unknown[]) =>
    world.service.testDatabase.database.withClient((client) => client.query(text, values));
  // The command is not on the clock of the test.
  await query('update search_customer set created_at = now() where party_id = $1', [ahead.partyId]);
  const since = async () => {
    const { output } = await commandLine(
      ['customers', 'list', '--party', ahead.partyId, '--since', '1d', '--json'],
      {
        DATABASE_URL: world.service.testDatabase.url,
        MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      },
    );
    return JSON.parse(output) as unknown[];
  };
  expect(await since()).toHaveLength(1);
  await query('insert into test_clock (party_id, offset_ms) values ($1, $2)', [
    ahead.partyId,
    2 * 86_400_000,
  ]);
  expect(await since()).toHaveLength(0);
});
