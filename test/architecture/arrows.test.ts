// Every import rule can be broken: a small made-up program breaks each, and `npm run arrows` must report it.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readArrows, unread } from '../../tools/read-arrows.ts';

/** Correct files, which the others import. */
const sound: Record<string, string> = {
  'clock.ts': 'export type Instant = string;',
  'ids.ts': "import { randomBytes } from 'node:crypto';",
  'money.ts': '',
  'main.ts': "await import('./cli/serve.ts');",
  'cli/serve.ts':
    "import { compose } from '../app/compose.ts';\nimport { find } from '../merchants/store/api-keys.ts';",
  'app/compose.ts':
    "import { open } from '../merchants/merchants.ts';\nimport type { FastifyInstance } from 'fastify';",
  'app/app-context.ts': "import type { Merchants } from '../merchants/merchants.ts';",
  'platform/database/database.ts': "import { Pool } from 'pg';",
  'platform/jobs/job-runner.ts': "import { run } from '../database/database.ts';",
  'platform/ledger/store/journals.ts': "import { run } from '../../database/database.ts';",
  'platform/ledger/store/account-details.ts': '',
  'acquiring/banks.ts': '',
  'acquiring/adapters/http/link.ts': "import { request } from 'undici';",
  'acquiring/domain/bank-port.ts': "import type { Instant } from '../../clock.ts';",
  'merchants/merchants.ts': "import { find } from './store/api-keys.ts';",
  'merchants/store/api-keys.ts': "import { run } from '../../platform/database/database.ts';",
  'merchants/domain/party.ts':
    "import type { Ids } from '../../ids.ts';\nimport { now } from '../../clock.ts';",
  'cards/vault.ts': "import { hash } from './card-hash.ts';",
  'cards/card-hash.ts': "import { createHash } from 'node:crypto';",
  'invoices/domain/invoice.ts': "import { requireTrading } from '../../merchants/domain/party.ts';",
  'invoices/api/schema.ts': "import { Type } from 'typebox';\nimport { compile } from 'typebox/compile';",
  'invoices/store/invoices.ts': "import { evolve } from '../domain/invoice.ts';",
  'payments/domain/payment.ts': "import type { Bank } from '../../acquiring/domain/bank-port.ts';",
  'payments/store/payments.ts': "import { record } from '../../platform/ledger/store/journals.ts';",
  'payments/worker.ts': "import type { Cards } from '../cards/vault.ts';",
  'payments/api/pay.ts': "import { Body } from '../../invoices/api/schema.ts';",
  'sandbox/bank/server.ts': "import { link } from '../../acquiring/adapters/http/link.ts';",
};

/** A file with a fault, the rule that must report it, and the import it must name. */
const faulty: [file: string, text: string, rule: string, imported: string][] = [
  ['refusal.ts', "import { price } from './money.ts';", 'one-direction', 'src/money.ts'],
  [
    'invoices/a.ts',
    "import type { P } from '../payments/domain/payment.ts';",
    'one-direction',
    'src/payments/domain/payment.ts',
  ],
  [
    'acquiring/a.ts',
    "import { evolve } from '../payments/domain/payment.ts';",
    'one-direction',
    'src/payments/domain/payment.ts',
  ],
  [
    'platform/database/a.ts',
    "export { run } from '../jobs/job-runner.ts';",
    'one-direction',
    'src/platform/jobs/job-runner.ts',
  ],
  [
    'platform/http/a.ts',
    "import type { Invoice } from '../../invoices/domain/invoice.ts';",
    'one-direction',
    'src/invoices/domain/invoice.ts',
  ],
  ['webhooks/a.ts', "await import('../app/compose.ts');", 'one-direction', 'src/app/compose.ts'],
  [
    'payments/a.ts',
    "import type { C } from '../app/app-context.ts';",
    'one-direction',
    'src/app/app-context.ts',
  ],
  ['app/a.ts', "import { serve } from '../cli/serve.ts';", 'one-direction', 'src/cli/serve.ts'],
  ['app/b.ts', "import { send } from '../parcels/send.ts';", 'one-direction', 'src/parcels/send.ts'],
  ['parcels/send.ts', "import { now } from '../clock.ts';", 'known-module', 'src/clock.ts'],
  [
    'invoices/domain/a.ts',
    "import { find } from '../store/invoices.ts';",
    'pure-domain',
    'src/invoices/store/invoices.ts',
  ],
  [
    'invoices/domain/b.ts',
    "import type { Row } from '../store/invoices.ts';",
    'pure-domain',
    'src/invoices/store/invoices.ts',
  ],
  ['invoices/domain/c.ts', "import { createHash } from 'node:crypto';", 'pure-domain', 'crypto'],
  ['invoices/domain/d.ts', "import { next } from '../../ids.ts';", 'pure-domain', 'src/ids.ts'],
  [
    'invoices/domain/e.ts',
    "import type { M } from '../../merchants/merchants.ts';",
    'pure-domain',
    'src/merchants/merchants.ts',
  ],
  ['invoices/domain/f.ts', "import { Type } from 'typebox';", 'pure-domain', 'typebox'],
  [
    'invoices/b.ts',
    "import type { Row } from '../merchants/store/api-keys.ts';",
    'private-store',
    'src/merchants/store/api-keys.ts',
  ],
  [
    'invoices/c.ts',
    "import { read } from '../platform/ledger/store/account-details.ts';",
    'private-store',
    'src/platform/ledger/store/account-details.ts',
  ],
  [
    'payments/c.ts',
    "import type { Hash } from '../cards/card-hash.ts';",
    'open-parts',
    'src/cards/card-hash.ts',
  ],
  ['payments/d.ts', "import { open } from '../cards/vault.ts';", 'open-parts', 'src/cards/vault.ts'],
  [
    'payments/e.ts',
    "import type { Link } from '../acquiring/adapters/http/link.ts';",
    'open-parts',
    'src/acquiring/adapters/http/link.ts',
  ],
  ['invoices/d.ts', "const pg = await import('pg');", 'few-friends', 'pg'],
  ['payments/f.ts', "import { fastify } from 'fastify';", 'few-friends', 'fastify'],
  ['invoices/e.ts', "import type { FastifyInstance } from 'fastify';", 'few-friends', 'fastify'],
  ['platform/http/b.ts', "import { jwtVerify } from 'jose';", 'few-friends', 'jose'],
  [
    'payments/g.ts',
    "import type { H } from './h.ts';",
    'no-cycle',
    'src/payments/h.ts, which imports src/payments/g.ts',
  ],
  ['webhooks/b.ts', "import { pad } from './utils.ts';", 'telling-name', 'src/webhooks/utils.ts'],
  ['webhooks/c.ts', "import { pad } from './common/pad.ts';", 'telling-name', 'src/webhooks/common/pad.ts'],
  ['webhooks/d.ts', "import { pad } from './nowhere.ts';", 'resolvable', './nowhere.ts'],
  ['webhooks/e.ts', "import { pad } from '../../test/pad.ts';", 'resolvable', 'test/pad.ts'],
];

const files = {
  ...sound,
  ...Object.fromEntries(faulty.map(([file, text]) => [file, text])),
  'payments/h.ts': "import type { G } from './g.ts';",
  'webhooks/utils.ts': '',
  'webhooks/common/pad.ts': '',
  // Tests may import everything.
  'clock.test.ts': "import { compose } from './app/compose.ts';",
  '../test/pad.ts': '',
};
let folder = '';
let found: readonly string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mandate-arrows-'));
  for (const [file, text] of Object.entries(files)) {
    const path = join(folder, 'src', file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  symlinkSync(new URL('../../node_modules', import.meta.url), join(folder, 'node_modules'));
  found = (await readArrows(folder)).breaches;
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each(faulty)('a breach is found: %s with %s', (file, _text, rule, imported) => {
  const ofFile = found.filter((breach) => breach.includes(`: src/${file} imports `));
  expect(ofFile).toEqual([expect.stringContaining(`${rule}: src/${file} imports `)]);
  expect(ofFile[0]).toContain(imported);
});

test('correct files have no breach', () => {
  const isFaulty = (breach: string) => faulty.some(([file]) => breach.includes(`: src/${file} imports `));
  expect(found.filter((breach) => !isFaulty(breach))).toEqual([]);
});

test('a file whose imports were not read is a breach', () => {
  expect(unread(['src/clock.ts', 'src/money.ts'], [{ source: 'src/clock.ts' }])).toEqual([
    'unread: the imports of src/money.ts were not read',
  ]);
});
