// Cards of a former provider: after the import their customers are charged without the payer, and nothing else has happened.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import pg from 'pg';
import { reconcile } from '../../../src/acquiring/reconciliation/reconcile.ts';
import { reconciliationSources } from '../../../src/app/sources/reconciliation-sources.ts';
import { everyInvariant } from '../../../src/app/composition/invariants.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { checkLedger } from '../../../src/platform/ledger/check-ledger.ts';
import { customersTopic } from '../../../src/customers/webhook-events.ts';
import { recurringTopic } from '../../../src/recurring/webhook-events.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import {
  customersUrl,
  startCustomerWorld,
  type CustomerWorld,
  type MadeBinding,
} from '../../support/worlds/customer-world.ts';
import {
  goodCard,
  importFiles,
  importRow,
  importRows,
  type ImportFiles,
} from '../../support/service/imported.ts';

let world: CustomerWorld;
let files: ImportFiles;
let token: string;
beforeAll(async () => {
  world = await startCustomerWorld();
  files = importFiles();
  token = world.merchant.apiKey;
});
afterAll(async () => {
  await files.remove();
  await world.close();
});

const imports = (rows: readonly (object | string)[], more: { readonly dryRun?: true } = {}) =>
  importRows(world.service, files, world.merchant.partyId, rows, more);

async function select(text: string, values: unknown[] = []): Promise<any[]> {
  const { rows } = await world.service.database.withClient((client) => client.query(text, values));
  return rows;
}

/** Of a payment with this card at the bank. */
async function networkIdOf(card: string): Promise<string> {
  const { bindingId } = await world.bound(await world.createCustomer(), card);
  const [row] = await select(
    `select state -> 'approval' ->> 'networkTransactionId' as value from binding where binding_id = $1`,
    [bindingId],
  );
  return row.value;
}

async function customerOf(externalID: string) {
  const { body } = await world.service.call('GET', `${customersUrl}?externalID=${externalID}`, { token });
  return body;
}

async function charge(customerID: string, amount = 6_000) {
  const invoice = await makeInvoice(world.service, world.merchant, { amount });
  const body = { flow: { type: 'PaymentFlowInstant' }, payer: { payerType: 'CustomerPayer', customerID } };
  const created = await world.service.call('POST', `${invoicesUrl}/${invoice.id}/payments`, { token, body });
  await world.service.jobs.whenIdle();
  return { ...invoice, created };
}

const none = { imported: 0, repeated: 0, conflicts: [], refused: [] };

describe('an imported customer', () => {
  test('is charged with the network ID of their first payment, within their consent', async () => {
    const value = await networkIdOf(goodCard);
    const firstPayment = { ...importRow().firstPayment, networkTransactionID: { kind: 'visaTid', value } };
    expect(await imports([importRow({ externalID: 'first', firstPayment })])).toEqual({
      ...none,
      imported: 1,
    });
    const customer = await customerOf('first');
    expect(customer).toMatchObject({ status: 'ready', contactInfo: { email: 'payer@example.com' } });
    const charged = await charge(customer.id);
    expect(charged.created).toMatchObject({ status: 201 });
    expect(await world.payment(charged)).toMatchObject({ status: 'captured' });
    const above = await charge(customer.id, 10_001);
    expect(above.created).toMatchObject({ status: 400, body: { code: 'recurrentAmountAboveConsent' } });
  });

  test('with a network ID that the bank does not know is declined: the ID is sent', async () => {
    await imports([importRow({ externalID: 'unknown-id' })]);
    const charged = await charge((await customerOf('unknown-id')).id);
    expect(await world.payment(charged)).toMatchObject({ status: 'failed' });
  });

  test('keeps terms, evidence and time of their consent', async () => {
    await imports([importRow({ externalID: 'terms', lastChargedAt: '2026-01-05T10:00:00Z' })]);
    const { id } = await customerOf('terms');
    const [series] = await select(`select terms, state from series where series_id like $1`, [
      `${id.slice(0, 23)}.%`,
    ]);
    expect(series.terms).toMatchObject({
      bindsAmount: true,
      consentedAt: '2025-11-05T10:00:30.000000Z',
      rootNetworkTransactionId: '485012345678901',
      mandate: {
        schedule: 'P1M',
        amountRule: { kind: 'upTo', amountMinor: 10_000 },
        evidence: 'attestedByMerchant',
        consent: { text: 'I agree to monthly payments.', ticked: true },
        payment: { currency: 'RUB', amountMinor: 6_000, networkIds: [{ kind: 'visaTid' }] },
      },
    });
    expect(series.state.lastSuccessAt).toBe('2026-01-05T10:00:00.000000Z');
    const { body } = await world.service.call('GET', `${customersUrl}/${id}/recurring?amount=6000`, {
      token,
    });
    expect(body).toMatchObject({ mayCharge: true, warnings: ['periodAlreadyCharged'] });
  });

  test('can get another card, and revoke both', async () => {
    const other = { cardNumber: '5555555555554444', expDate: '11/31' };
    const networkTransactionID = { kind: 'mcTrace', value: 'MCC0123450105' };
    const firstPayment = { ...importRow().firstPayment, networkTransactionID };
    const { contactInfo: _, ...second } = importRow({ externalID: 'two-b', card: other, firstPayment });
    const rows = [importRow({ externalID: 'two-a' }), { ...second, customerExternalID: 'two-a' }];
    expect(await imports(rows, { dryRun: true })).toEqual({ ...none, imported: 2 });
    expect(await imports(rows)).toEqual({ ...none, imported: 2 });
    const { id } = await customerOf('two-a');
    const url = `${customersUrl}/${id}/bindings`;
    const { body: bindings } = await world.service.call('GET', url, { token });
    expect(bindings).toMatchObject([
      { externalID: 'two-a', status: 'succeeded', isActive: false },
      { externalID: 'two-b', status: 'succeeded', isActive: true },
    ]);
    for (const binding of bindings) await world.withdraw({ id, bindingId: binding.id } as MadeBinding);
    expect(await customerOf('two-a')).toMatchObject({ status: 'unready' });
    await world.later(24 * 3_600_000);
    const kept = `select from card where retained_for::text like $1`;
    expect(await select(kept, [`%${id}%`])).toEqual([]);
  });
});

test('a customer of another merchant, or of another shop, gets no card', async () => {
  const other = await world.createMerchant();
  const theirs = await world.createCustomer({}, other);
  const mine = await world.createCustomer({ shopID: 'TEST_USD' });
  const { contactInfo: _, ...row } = importRow();
  const rows = [theirs, mine].map(({ id }) => ({ ...row, externalID: id, customerID: id }));
  expect(await imports(rows)).toEqual({
    ...none,
    refused: [
      { line: 1, reason: 'its customer is unknown' },
      { line: 2, reason: 'its customer is of another shop' },
    ],
  });
});

describe('a file', () => {
  test('that is imported again imports nothing and says so', async () => {
    const rows = [1, 2, 3].map((number) => importRow({ externalID: `again-${number}` }));
    expect(await imports(rows.slice(0, 2))).toEqual({ ...none, imported: 2 });
    const before = await counts();
    expect(await imports(rows.slice(0, 2))).toEqual({ ...none, repeated: 2 });
    expect(await counts()).toEqual(before);
    expect(await imports(rows)).toEqual({ ...none, imported: 1, repeated: 2 });
  });

  test('with another value for a row leaves the row as it is', async () => {
    await imports([importRow({ externalID: 'other' })]);
    const before = await counts();
    const changed = [
      importRow({ externalID: 'other', card: { ...importRow().card, expDate: '11/30' } }),
      importRow({ externalID: 'other', shopID: 'TEST_USD' }),
      importRow({ externalID: 'other', card: { ...importRow().card, cardNumber: '4111111111111111' } }),
    ];
    const reason = 'a binding with its externalID exists, with other values';
    const conflicts = [1, 2, 3].map((line) => ({ line, reason }));
    expect(await imports(changed, { dryRun: true })).toEqual({ ...none, conflicts });
    expect(await imports(changed)).toEqual({ ...none, conflicts });
    expect(await counts()).toEqual(before);
  });

  test('has each row that cannot be imported listed by its line, without a value', async () => {
    const row = importRow();
    const { card, firstPayment, recurrentTerms } = row;
    const { consent, amountRule: __, schedule: ___, ...terms } = recurrentTerms;
    const id = (kind: string) => ({
      firstPayment: { ...firstPayment, networkTransactionID: { kind, value: '1' } },
    });
    const { contactInfo: ____, ...owned } = row;
    const rows: [object | string, string][] = [
      [{ card: { ...card, cardNumber: '4242424242424241' } }, 'card: Invalid cardNumber checksum'],
      [{ card: { ...card, cardNumber: '9999999999999995' } }, 'card: Unrecognized bank card issuer'],
      [{ card: { ...card, expDate: '13/30' } }, 'card: Invalid expiration date'],
      [{ card: { ...card, expDate: '01/20' } }, 'card: Invalid expiration date'],
      [
        { card: { ...card, cardNumber: '4242 4242 4242 4242' } },
        'card.cardNumber must match pattern "^\\d{12,19}$"',
      ],
      [{ shopID: 'NONE' }, 'shopID is unknown'],
      [{ ...owned, contactInfo: undefined, customerID: 'none' }, 'its customer is unknown'],
      [{ contactInfo: undefined, customerExternalID: 'none' }, 'its customer is unknown'],
      [{ recurrentTerms: undefined }, 'recurrentTerms must have required properties recurrentTerms'],
      [{ recurrentTerms: { ...recurrentTerms, consent: undefined } }, 'recurrentTerms.consent is missing'],
      [{ recurrentTerms: { ...terms, schedule: 'P1M', consent } }, 'recurrentTerms.amountRule is missing'],
      [
        id('amexTid'),
        'firstPayment.networkTransactionID.kind is of no known network: use visaTid, mcTrace, mcLink, other',
      ],
      [id('mcTrace'), 'firstPayment.networkTransactionID.kind is not of the network of the card'],
      [{ shopID: 'TEST_USD' }, 'firstPayment.currency is not that of the shop'],
      [
        { metadata: { note: 'card 4242 4242 4242 4242' } },
        'holds the number of its card outside of card.cardNumber',
      ],
      [{ metadata: { note: '5555 5555 5555 4444' } }, 'holds a card number outside of card.cardNumber'],
      [{ metadata: { note: 'zero \u0000' } }, 'holds a character that cannot be stored'],
      [{ surname: '4242424242424242' }, 'surname is not a member of a row'],
      [{ '4242424242424242': 1 }, 'has a member that no row has'],
      [
        { recurrentTerms: { ...recurrentTerms, validUnitl: '2026-12-31' } },
        'recurrentTerms.validUnitl is not a member of a row',
      ],
      [{ contactInfo: { 4242424242424242: 1 } }, 'has a member that no row has'],
      [{ metadata: { 5555555555554444: 1 } }, 'holds a card number outside of card.cardNumber'],
      [{ metadata: { old: 5555555555554444 } }, 'holds a card number outside of card.cardNumber'],
      [{ metadata: { value: '5555555555554444' } }, 'holds a card number outside of card.cardNumber'],
      [
        { lastChargedAt: '2024-01-01T00:00:00Z' },
        'lastChargedAt is before the first payment, or in the future',
      ],
      [
        { recurrentTerms: { ...recurrentTerms, validUntil: '2025-12-31' } },
        'recurrentTerms.validUntil is over',
      ],
      ['{"card":{"cardNumber":"4242424242424242"', 'is not JSON'],
      ['4242424242424242', 'body must be object'],
    ];
    const before = await counts();
    const report = await imports(
      rows.map(([more], index) =>
        typeof more === 'string' ? more : importRow({ externalID: `bad-${index}`, ...more }),
      ),
    );
    expect(report.refused.map(({ line, reason }) => [line, reason])).toEqual(
      rows.map(([, reason], index) => [index + 1, reason]),
    );
    expect(JSON.stringify(report)).not.toMatch(/\d{9}/);
    expect(await counts()).toEqual(before);
  });

  test('has the repeats of a row that is refused refused like it', async () => {
    const { recurrentTerms, contactInfo: _, ...row } = importRow();
    const over = { recurrentTerms: { ...recurrentTerms, validUntil: '2025-12-31' } };
    await imports([importRow({ externalID: 'owner' })]);
    const customerID = (await customerOf('owner')).id;
    const consented = { ...row, recurrentTerms, externalID: 'consented', customerID };
    const rows = [
      importRow({ externalID: 'over', ...over }),
      importRow({ externalID: 'over', ...over }),
      importRow({ externalID: 'over', metadata: { plan: 'other' }, ...over }),
      consented,
      consented,
    ];
    for (const dryRun of [true, undefined]) {
      const report = await imports(rows, dryRun ? { dryRun } : {});
      expect(report).toMatchObject({ imported: 0, repeated: 0, conflicts: [] });
      expect(report.refused.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5]);
    }
  });

  test('finds a customer by the external ID that made it, and by no other of its rows, in a dry run too', async () => {
    const { contactInfo: _, ...second } = importRow({
      card: { cardNumber: '5555555555554444', expDate: '11/31' },
    });
    const firstPayment = {
      ...importRow().firstPayment,
      networkTransactionID: { kind: 'mcTrace', value: 'MCC0123450105' },
    };
    const third = { ...second, card: { ...second.card, cardNumber: '2223000048400011' }, firstPayment };
    const rows = [
      importRow({ externalID: 'makes' }),
      { ...second, firstPayment, externalID: 'adds', customerExternalID: 'makes' },
      { ...third, externalID: 'lost', customerExternalID: 'adds' },
    ];
    const expected = { ...none, imported: 2, refused: [{ line: 3, reason: 'its customer is unknown' }] };
    expect(await imports(rows, { dryRun: true })).toEqual(expected);
    expect(await imports(rows)).toEqual(expected);
  });

  test('writes nothing in a dry run, which counts the same', async () => {
    const rows = [
      importRow({ externalID: 'dry-1' }),
      importRow({ externalID: 'dry-2', shopID: 'NONE' }),
      importRow({ externalID: 'dry-1' }),
      importRow({ externalID: 'dry-1', shopID: 'TEST_USD' }),
      'not JSON',
    ];
    const before = await counts();
    const dry = await imports(rows, { dryRun: true });
    expect(await counts()).toEqual(before);
    expect(dry).toMatchObject({
      imported: 1,
      repeated: 1,
      conflicts: [{ line: 4 }],
      refused: [{ line: 2 }, { line: 5 }],
    });
    expect(await imports(rows)).toEqual(dry);
  });
});

describe('two runs at once', () => {
  /** The other run begins and ends after this one has decided, and before it writes. */
  async function overtaken(rows: readonly object[], others: readonly object[]) {
    const { database } = world.service;
    let isOvertaken = false;
    const waiting = Object.assign(Object.create(database) as typeof database, {
      async transaction<T>(work: (tx: Database) => Promise<T>): Promise<T> {
        if (!isOvertaken) {
          isOvertaken = true;
          expect(await imports(others)).toEqual({ ...none, imported: others.length });
        }
        return database.transaction(work);
      },
    });
    const service = { ...world.service, database: waiting };
    return importRows(service, files, world.merchant.partyId, rows);
  }

  test('of one file import each row once', async () => {
    const { contactInfo: _, ...row } = importRow();
    await world.createCustomer();
    const { id: customerID } = await world.createCustomer();
    const rows = [importRow({ externalID: 'at-once-1' }), { ...row, externalID: 'at-once-2', customerID }];
    expect(await overtaken(rows, rows)).toEqual({ ...none, repeated: 2 });
  });

  test('of two files do not import two consents for one card of a customer', async () => {
    const { contactInfo: _, ...row } = importRow();
    const { id: customerID } = await world.createCustomer();
    const rows = ['at-once-3', 'at-once-4'].map((externalID) => ({ ...row, externalID, customerID }));
    expect(await overtaken(rows.slice(0, 1), rows.slice(1))).toEqual({
      ...none,
      refused: [{ line: 1, reason: 'its customer has a consent for this card already' }],
    });
  });
});

test('while a node of an older version runs, nothing is imported: it would send webhooks', async () => {
  const older = new pg.Client({
    connectionString: world.service.testDatabase.url,
    application_name: 'mandate',
  });
  await older.connect();
  const rows = [importRow({ externalID: 'early' })];
  expect(await imports(rows, { dryRun: true })).toEqual({ ...none, imported: 1 });
  await expect(imports(rows)).rejects.toThrow('Stop or upgrade every node of that version');
  await older.end();
  expect(await imports(rows)).toEqual({ ...none, imported: 1 });
});

test('an import sends no webhooks, and later changes of its customers do', async () => {
  await imports([importRow({ externalID: 'silent' })]);
  const { id } = await customerOf('silent');
  const logs = await select(
    `select aggregate, created_at as "createdAt", sequence, facts from event
     where aggregate_id = $1 or aggregate_id like $2`,
    [id, `${id.slice(0, 23)}.%`],
  );
  expect(logs.map(({ aggregate }) => aggregate).toSorted()).toEqual(['customer', 'series']);
  for (const { aggregate, facts, ...event } of logs) {
    const topic = aggregate === 'customer' ? customersTopic : recurringTopic;
    expect(topic.typesOf(facts)).toEqual([]);
    expect(topic.webhookEventsOf([{ ...event, facts }])).toEqual([]);
  }
  await world.service.call('DELETE', `${customersUrl}/${id}`, { token });
  const log = await select(
    `select sequence, created_at as "createdAt", facts from event where aggregate_id = $1`,
    [id],
  );
  expect(customersTopic.webhookEventsOf(log as never).map(({ eventType }) => eventType)).toEqual([
    'CustomerDeleted',
  ]);
});

test('an import leaves ledger checks and reconciliation as they were', async () => {
  await imports([importRow({ externalID: 'ledger' })]);
  const { id } = await customerOf('ledger');
  const findings = await checkLedger(world.service.database, 'all', everyInvariant);
  expect(findings.filter(({ violations }) => violations > 0n)).toEqual([]);
  const { differences } = await reconcile({
    db: world.service.database,
    clock: world.service.clock,
    comparison: reconciliationSources,
    book: {
      grows: true,
      entriesAfter: async function* (sequence) {
        yield (await world.book()).filter((entry) => entry.sequence > sequence);
      },
    },
    bankId: 'BANK',
    period: {},
    pendingHours: 24,
    maxList: 100,
    report: () => {},
  });
  expect(differences).toEqual([]);
  expect(await select(`select from ledger_transfer where aggregate_id = $1`, [id])).toEqual([]);
  expect(await select(`select from exchange where aggregate_id = $1`, [id])).toEqual([]);
});

test('no card number is in a log line, nor in a row in the clear', async () => {
  await imports([importRow({ externalID: 'clear' })]);
  expect(world.service.logged.join('\n')).not.toContain(goodCard);
  for (const table of ['card', 'customer', 'binding', 'series', 'event', 'external_id'])
    expect(await select(`select from ${table} as row where row::text like '%${goodCard}%'`)).toEqual([]);
});

test('a row that was imported is known again after its card has expired', async () => {
  const [year, month] = world.service.clock.now().slice(2).split('-');
  const soon = importRow({
    externalID: 'expires',
    card: { ...importRow().card, expDate: `${month}/${year}` },
  });
  expect(await imports([soon])).toEqual({ ...none, imported: 1 });
  await world.later(32 * 24 * 3_600_000);
  expect(await imports([soon, { ...soon, externalID: 'expired' }])).toEqual({
    ...none,
    repeated: 1,
    refused: [{ line: 2, reason: 'card: Invalid expiration date' }],
  });
});

async function counts() {
  const tables = ['card', 'customer', 'binding', 'series', 'event', 'external_id'];
  const [row] = await select(
    `select ${tables.map((name) => `(select count(*) from ${name}) as ${name}`).join(', ')}`,
  );
  return row;
}
