// Imports point one way, from the program inwards to the words everybody speaks. Each rule has a made-up breach beside it,
// which the same function must find.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { breaches, importsIn } from './import-arrows.ts';

const folder = new URL('../../src/', import.meta.url);

test('every import of the program points inwards, and every file says what it is for', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  expect(files.length).toBeGreaterThan(50);
  const sources = new Map(files.sort().map((file) => [file, readFileSync(new URL(file, folder), 'utf8')]));
  expect(breaches(sources)).toEqual([]);
});

/** A made-up program without a fault. */
const soundProgram = new Map(
  Object.entries({
    'clock.ts': '',
    'ids.ts': '',
    'money.ts': '',
    'compose.ts':
      "import { claim } from './engine/due.store.ts';\nimport type { Service } from './service.ts';",
    'service.ts': "import type { Engine } from './engine/engine.ts';",
    'platform/database/database.ts': "import { Pool } from 'pg';\nimport { now } from '../clock.ts';",
    'platform/jobs/job-runner.ts':
      "import { claim } from './due.store.ts';\nimport type { Logger } from 'pino';",
    'platform/jobs/job-claims.ts': "import { run } from '../database/database.ts';",
    'merchants/domain/party.ts': "import type { Money } from '../money.ts';",
    'merchants/store/parties.ts': "import type { Party } from './party.ts';",
    'merchants/merchants.ts': "import { createHash } from 'node:crypto';",
    'invoices/domain/invoice.ts': "import { requireTrading } from '../merchants/party.ts';",
    'invoices/store/invoices.ts': "import { evolve } from './invoice.ts';",
    'invoices/api/schema.ts': "import { Type } from 'typebox';",
    'platform/http/caller.ts': '',
    'platform/http/request-pipeline.ts': "import type { Merchants } from '../merchants/merchants.ts';",
    'acquiring/domain/bank-port.ts': "import type { Money } from '../money.ts';",
    'acquiring/banks.ts': "import { run } from '../database/database.ts';",
    'cards/vault.ts': '',
    'cards/domain/payment-resource.ts': "import type { Caller } from '../http/caller.ts';",
    'payments/domain/payment.ts': "import type { Bank } from '../bank/bank.ts';",
    'payments/api/create-payment.ts':
      "import { Path } from '../invoices/invoice.wire.ts';\nimport type { Banks } from '../bank/banks.ts';",
    'sandbox/bank/server.ts': "import type { Bank } from '../../bank/bank.ts';",
    'cli/banks/bank.ts': "await import('../sandbox/bank/server.ts');",
  }).map(([file, line]) => [file, `// What it is for.\n${line}`]),
);

test('a sound program has no breach', () => {
  expect(breaches(soundProgram)).toEqual([]);
});

test.each<[string, string, string]>([
  ['clock.ts', "import { price } from './money.ts';", 'clock may not know money'],
  ['config.ts', "import { build } from './compose.ts';", 'config may not know compose'],
  ['cli/serve.ts', "import '../database/database.ts';", 'commands may not know database'],
  [
    'platform/database/database.ts',
    "import { engine } from '../engine/engine.ts';",
    'database may not know engine',
  ],
  [
    'platform/http/request-pipeline.ts',
    "import type { Invoice } from '../invoices/invoice.ts';",
    'http may not know invoices',
  ],
  [
    'platform/http/request-pipeline.ts',
    "import { open } from '../merchants/merchants.ts';",
    'nothing but the types of merchants',
  ],
  [
    'platform/http/request-pipeline.ts',
    "import { type Party } from '../merchants/party.ts';",
    'nothing but the types of merchants',
  ],
  ['service.ts', "import { engine } from './engine/engine.ts';", 'nothing but the types of engine'],
  ['invoices/read.ts', "import { service } from '../service.ts';", 'nothing but the types of service'],
  ['invoices/read.ts', "import { shop } from '../merchants/party.store.ts';", 'store of another part'],
  ['invoices/read.ts', "import type { Row } from '../merchants/party.store.ts';", 'store of another part'],
  ['invoices/read.ts', "export { claim } from '../engine/due.store.ts';", 'store of another part'],
  [
    'invoices/read.ts',
    "import type { M } from '../merchants/merchants.ts';",
    'of another room only pure files',
  ],
  ['payments/pay.ts', "import type { Vault } from '../cards/vault.ts';", 'of another room only pure files'],
  ['payments/pay.ts', "import { open } from '../bank/banks.ts';", 'nothing but the types of bank'],
  ['payments/pay.ts', "import { find } from '../invoices/invoice.store.ts';", 'store of another part'],
  ['payments/pay.ts', "import { Pool } from 'undici';", 'the package undici is for bank'],
  ['invoices/end.ts', "import type { P } from '../payments/payment.ts';", 'invoices may not know payments'],
  ['compose.ts', "import { serve } from './sandbox/bank/server.ts';", 'compose may not know sandbox'],
  [
    'acquiring/adapters/http/link.ts',
    "import { pay } from '../../payments/payment.ts';",
    'bank may not know payments',
  ],
  ['payments/domain/bank-actions.ts', 'export const ask = async () => 1;', 'it has async'],
  [
    'cards/domain/payment-resource.ts',
    "import { caller } from '../http/caller.ts';",
    'a pure file imports only pure files',
  ],
  [
    'invoices/domain/invoice.ts',
    "import { find } from './invoice.store.ts';",
    'a pure file imports only pure files',
  ],
  [
    'invoices/domain/invoice.ts',
    "import { createHash } from 'node:crypto';",
    'a pure file imports only pure files',
  ],
  [
    'invoices/domain/invoice.ts',
    "import type { Ids } from '../ids.ts';",
    'a pure file imports only pure files',
  ],
  ['invoices/read.ts', "const pg = await import('pg');", 'the package pg is for database'],
  ['invoices/read.ts', "import {\n  pad,\n} from 'left-pad';", 'nobody uses the package left-pad yet'],
  ['platform/jobs/job-runner.ts', "import { pino } from 'pino';", 'the package pino is for log'],
  ['invoices/read.ts', "import { service } from '../../test/service.ts';", 'no such file in src'],
  ['invoices/domain/invoice.ts', 'export const made = Date.now();', 'it has Date.now'],
  ['merchants/domain/party.ts', 'export const mode = process.env;', 'it has process.'],
  ['parcels/send.ts', '', 'is in no known part of src'],
  ['invoices/utils.ts', '', 'utils says nothing'],
  ['invoices/index.ts', '', 'index says nothing'],
  ['http/common/pad.ts', '', 'common says nothing'],
])('a breach is found: %s with %s', (file, line, complaint) => {
  const found = breaches(new Map([...soundProgram, [file, `// What it is for.\n${line}`]]));
  expect(found).toEqual([expect.stringContaining(complaint)]);
  expect(found).toEqual([expect.stringContaining(`src/${file}`)]);
});

test('a breach is found: a file without a word about itself, and one that has become too long', () => {
  const silent = new Map([['money.ts', 'export const one = 1;\n']]);
  expect(breaches(silent)).toEqual([expect.stringContaining('does not begin with a comment')]);
  expect(breaches(new Map([['money.ts', '// One.\n'.repeat(400)]]))).toEqual([]);
  const long = new Map([['money.ts', '// One.\n'.repeat(401)]]);
  expect(breaches(long)).toEqual([expect.stringContaining('has 401 lines')]);
});

test('imports are read in every form they have', () => {
  const text = `// import { no } from './comment.ts';
import './effect.ts';
import one, { two } from './values.ts';
import type { Three } from './types.ts';
import {
  four,
  type Five,
} from './mixed.ts';
export { six } from './passed-on.ts';
export type { Seven } from './passed-on-types.ts';
const eight = (await import('./loaded.ts')).eight;`;
  expect(importsIn(text).map(({ of, isType }) => [of, isType])).toEqual([
    ['./effect.ts', false],
    ['./values.ts', false],
    ['./types.ts', true],
    ['./mixed.ts', false],
    ['./passed-on.ts', false],
    ['./passed-on-types.ts', true],
    ['./loaded.ts', false],
  ]);
});
