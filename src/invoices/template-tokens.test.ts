// The tokens of templates below the API: what they cost the database, and what they need of it.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database/test-database.ts';
import { testClock } from '../../test/support/service/test-service.ts';
import { randomIds } from '../ids.ts';
import type { Database } from '../platform/database/database.ts';
import { accessTokens } from '../platform/keys/access-token.ts';
import { openKeyring, type DataKey, type Keyring } from '../platform/keys/keyring.ts';
import { localMasterKey } from '../platform/keys/master-key.ts';
import { deleteTemplate, storeNewTemplate } from './store/templates.ts';
import { openTemplateTokens, type TemplateTokens } from './template-tokens.ts';

const clock = testClock();
let db: TestDatabase;
let keyring: Keyring;
let tokens: TemplateTokens;
let queries: number;

beforeAll(async () => {
  db = await createTestDatabase();
  keyring = await openKeyring(db.database, localMasterKey(randomBytes(32)), clock);
});
afterAll(async () => {
  keyring.stop();
  await db.drop();
});
beforeEach(() => {
  queries = 0;
  tokens = ofNewNode();
});

function ofNewNode(): TemplateTokens {
  const run: Database['run'] = (statement, parameters) => {
    queries++;
    return db.database.run(statement, parameters);
  };
  return openTemplateTokens({ lookups: { run }, keyring });
}

async function makeTemplate(): Promise<string> {
  const id = randomIds.next();
  const price = { costType: 'InvoiceTemplateLineCostUnlim' } as const;
  const details = { templateType: 'InvoiceTemplateSingleLine', product: 'Ticket', price } as const;
  const lifetime = { days: 1, months: 0, years: 0 };
  const template = { id, partyId: 'P', shopId: 'S', lifetime, details, createdAt: clock.now() };
  await storeNewTemplate(db.database, template, Buffer.alloc(32));
  return id;
}

const caller = (entityId: string) => ({ kind: 'invoice-template', entityId, partyId: 'P' });
const deleted = { kind: 'refused', why: 'deleted' };

describe('the token of a template', () => {
  test('costs one read a second, also once the template is deleted', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const id = await makeTemplate();
    const token = tokens.issue(id);
    for (let times = 0; times < 3; times++) expect(await tokens.verify(token)).toEqual(caller(id));
    expect(queries).toBe(1);
    vi.advanceTimersByTime(1_000);
    for (let times = 0; times < 3; times++) expect(await tokens.verify(token)).toEqual(caller(id));
    expect(queries).toBe(2);
    await deleteTemplate(db.database, id, clock.now());
    tokens.forget(id);
    for (let times = 0; times < 3; times++) expect(await tokens.verify(token)).toEqual(deleted);
    expect(queries).toBe(3);
  });

  test('that is made up reads nothing', async () => {
    const token = tokens.issue(await makeTemplate());
    const changes = Array.from(token, (character, at) => {
      const other = character === 'A' ? 'B' : 'A';
      return token.slice(0, at) + other + token.slice(at + 1);
    });
    const ofAnotherVersion = token.replace('_1_', '_2_');
    for (const changed of [...changes, ofAnotherVersion, token.slice(0, -1), `${token}A`])
      expect({ changed, found: await tokens.verify(changed) }).toEqual({ changed, found: undefined });
    expect(queries).toBe(0);
  });

  test('works on a node that has not seen it, and after a rotation of the key', async () => {
    const id = await makeTemplate();
    const before = tokens.issue(id);
    expect(await ofNewNode().verify(before)).toEqual(caller(id));
    await keyring.rotate('access_token');
    const after = tokens.issue(id);
    expect(after).not.toBe(before);
    expect(await tokens.verify(before)).toEqual(caller(id));
    expect(await tokens.verify(after)).toEqual(caller(id));
  });

  test('cannot be made of what the tables of templates and keys hold', async () => {
    const id = await makeTemplate();
    const proof = tokens.issue(id).slice(-22);
    const stored = await db.database.withClient(async (client) => {
      const templates = await client.query(
        'select to_json(invoice_template)::text as row from invoice_template',
      );
      const keys = await client.query('select to_json(data_key)::text as row from data_key');
      return [...templates.rows, ...keys.rows].map(({ row }) => String(row)).join('\n');
    });
    const { secret } = keyring.newest('access_token');
    expect(stored).toContain(id);
    for (const needed of [proof, secret.toString('hex'), secret.toString('base64')])
      expect(stored).not.toContain(needed);
    const otherKey: DataKey = { keyVersion: 1, form: 1, secret: randomBytes(32) };
    const otherKeys = { ...keyring, newest: () => otherKey };
    const forged = openTemplateTokens({ lookups: db.database, keyring: otherKeys }).issue(id);
    expect(await tokens.verify(forged)).toBeUndefined();
  });

  test('is no token of an invoice, and none of those is one of a template', async () => {
    const id = await makeTemplate();
    const signed = accessTokens(keyring, clock);
    expect(await signed.verify(tokens.issue(id))).toBeUndefined();
    const invoiceToken = signed.issue({ kind: 'invoice', entityId: id, partyId: 'P' });
    expect(await tokens.verify(invoiceToken)).toBeUndefined();
  });
});
