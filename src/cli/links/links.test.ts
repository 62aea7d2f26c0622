// mandate links: a link is created, shown, listed and deleted, and its QR codes can be read.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import jsqr from 'jsqr';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database/test-database.ts';
import { commandLine, migrateDatabase } from '../../../test/support/processes/command-line.ts';
import {
  startTestService,
  type Merchant,
  type TestService,
} from '../../../test/support/service/test-service.ts';
import {
  makeTemplate,
  singleLine,
  templatesUrl,
  unlimitedPrice,
} from '../../../test/support/worlds/invoices.ts';
import { drawnQrCode } from './qr-code.ts';

let service: TestService;
let merchant: Merchant;
let product: string[];
const folder = mkdtempSync(join(tmpdir(), 'links-'));
const publicUrl = 'https://pay.example';

beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
  product = ['--party', merchant.partyId, '--shop', 'TEST', '--product', 'Ticket'];
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

const run = (args: readonly string[], more: Record<string, string> = {}) =>
  commandLine(['links', ...args], {
    DATABASE_URL: service.testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    MANDATE_DATA: folder,
    PUBLIC_URL: publicUrl,
    ...more,
  });
async function json(...args: string[]) {
  const { code, output, errors } = await run([...args, '--json']);
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  return JSON.parse(output);
}
const create = (...args: string[]) => json('create', ...product, ...args);
const list = (...args: string[]) => json('list', '--party', merchant.partyId, ...args);
const tokenIn = (link: string) => new URL(link).hash.slice('#invoiceTemplateAccessToken='.length);

/** What a reader sees in light and dark modules. */
function readQrCode(rows: readonly (readonly boolean[])[], scale = 4): string | undefined {
  const size = rows.length * scale;
  const pixels = new Uint8ClampedArray(size * size * 4);
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const isLight = rows[Math.floor(y / scale)]?.[Math.floor(x / scale)] ?? true;
      pixels.set(isLight ? [255, 255, 255, 255] : [0, 0, 0, 255], 4 * (y * size + x));
    }
  return jsqr.default(pixels, size, size, { inversionAttempts: 'dontInvert' })?.data;
}
const upper = { '█': true, '▀': true, '▄': false, ' ': false } as const;
const lower = { '█': true, '▀': false, '▄': true, ' ': false } as const;
function readDrawing(drawing: string): string | undefined {
  const rows = drawing
    .split('\n')
    .flatMap((row) =>
      [upper, lower].map((half) => Array.from(row, (block) => half[block as keyof typeof half])),
    );
  return readQrCode(rows.slice(0, rows[0]?.length));
}

describe('a payment link', { timeout: 120_000 }, () => {
  test('is created with the template of its page, by whose token payers make invoices', async () => {
    const said = ['--name', 'Spring', '--description', 'For the concert', '--days', '7'];
    const made = await create('--amount', '60000', ...said);
    expect(made).toEqual({
      id: expect.any(String),
      paymentLink: expect.any(String),
      partyId: merchant.partyId,
      shopId: 'TEST',
      product: 'Ticket',
      description: 'For the concert',
      name: 'Spring',
      amount: '60000',
      lifetime: '7 days',
      createdAt: expect.stringMatching(/^2\d{3}-/),
    });
    const token = tokenIn(made.paymentLink);
    expect(made.paymentLink).toBe(
      `${publicUrl}/checkout?invoiceTemplateID=${made.id}#invoiceTemplateAccessToken=${token}`,
    );
    const url = `${templatesUrl}/${made.id}`;
    expect((await service.call('GET', url, { token })).body).toMatchObject({
      description: 'For the concert',
      lifetime: { days: 7, months: 0, years: 0 },
      details: {
        templateType: 'InvoiceTemplateSingleLine',
        product: 'Ticket',
        price: { costType: 'InvoiceTemplateLineCostFixed', amount: 60_000, currency: 'RUB' },
      },
    });
    const invoice = await service.call('POST', `${url}/invoices`, { token, body: {} });
    expect(invoice).toMatchObject({ status: 201, body: { invoice: { amount: 60_000 } } });
    expect(await json('show', made.id)).toEqual(made);
    const { output } = await run(['show', made.id]);
    expect(output).toContain(made.paymentLink);
    expect(output).not.toContain('undefined');
  });

  test.each([
    ['1000-5000', { costType: 'InvoiceTemplateLineCostRange', currency: 'RUB' }],
    ['any', { costType: 'InvoiceTemplateLineCostUnlim' }],
  ])('lets the payer choose an amount of %s', async (amount, price) => {
    const { id, amount: shown } = await create('--amount', amount);
    const { body } = await service.call('GET', `${templatesUrl}/${id}`, { token: merchant.apiKey });
    expect(shown).toBe(amount);
    expect(body.details.price).toMatchObject(price);
  });

  test('is listed until it is deleted, the newest first, also one that the API made', async () => {
    const seller = await service.createMerchant();
    const listed = (...args: string[]) => json('list', '--party', seller.partyId, ...args);
    const idsListed = async () => (await listed()).map((one: { id: string }) => one.id);
    const { id: older } = await makeTemplate(service, seller);
    service.clock.advance(1_000);
    const cart = [
      { product: 'Chair', quantity: 4, price: 1_000 },
      { product: 'Table', price: 5_000 },
    ];
    const { id } = await makeTemplate(service, seller, {
      details: { templateType: 'InvoiceTemplateMultiLine', currency: 'RUB', cart },
      lifetime: { days: 0, months: 1, years: 2 },
    });
    const shown = { id, product: 'Chair and 1 more', amount: '9000', lifetime: '2 years, 1 month' };
    expect(await listed('--limit', '1')).toMatchObject([shown]);
    expect(await idsListed()).toEqual([id, older]);
    const table = (...more: string[]) => run(['list', '--party', seller.partyId, ...more]);
    expect((await table('--limit', '1')).output).toContain('There are more.');
    expect((await table()).output).not.toContain('There are more.');

    expect(await run(['delete', id])).toMatchObject({ code: 0, errors: '' });
    expect(await idsListed()).toEqual([older]);
    for (const verb of ['show', 'delete'])
      expect(await run([verb, id])).toMatchObject({
        code: 1,
        errors: expect.stringContaining(`Payment link ${id} not found.`),
      });
  });

  test('is drawn on a terminal and in a file so that a reader gets exactly its address', async () => {
    const { id, paymentLink } = await create('--amount', '60000');
    const svg = join(folder, 'link.svg');
    const { output } = await run(['show', id, '--qr', '--svg', svg]);
    expect(readDrawing(output.slice(output.indexOf('█')).trimEnd())).toBe(paymentLink);

    const [, size = 0] = /viewBox="0 0 (\d+) /.exec(readFileSync(svg, 'utf8'))?.map(Number) ?? [];
    const rows = Array.from({ length: size / 10 }, () => Array<boolean>(size / 10).fill(true));
    for (const [, x, y] of readFileSync(svg, 'utf8').matchAll(/M(\d+),(\d+)h10v10h-10z/g))
      rows[Number(y) / 10]![Number(x) / 10] = false;
    expect(readQrCode(rows)).toBe(paymentLink);

    writeFileSync(svg, 'of another link');
    for (const [file, why] of [
      [svg, 'exists already'],
      [join(folder, 'none', 'link.svg'), 'cannot be written'],
    ] as const)
      expect(await run(['show', id, '--svg', file])).toMatchObject({
        code: 1,
        errors: expect.stringContaining(`--svg "${file}" ${why}.`),
      });
    expect(readFileSync(svg, 'utf8')).toBe('of another link');
  });

  test('is drawn in its own colours only on a terminal', () => {
    const plain = drawnQrCode('https://pay.example', { isOnTerminal: false });
    expect(plain).not.toContain('\u001b');
    const coloured = drawnQrCode('https://pay.example', { isOnTerminal: true });
    expect(stripVTControlCharacters(coloured)).toBe(plain);
    expect(coloured.split('\n').every((row) => row.startsWith('\u001b[97;40m'))).toBe(true);
  });

  test('leads to the sandbox that runs in the data folder', async () => {
    const { id } = await makeTemplate(service, merchant, { details: singleLine(unlimitedPrice) });
    const file = join(folder, 'sandbox.json');
    writeFileSync(file, JSON.stringify({ apiUrl: 'http://127.0.0.1:4321' }));
    expect((await json('show', id)).paymentLink).toMatch('http://127.0.0.1:4321/checkout?');
    rmSync(file);
    expect((await json('show', id)).paymentLink).toMatch(`${publicUrl}/checkout?`);
  });

  test('leads in live mode to an address that others reach, or is not created', async () => {
    const db = await createTestDatabase();
    try {
      const live = {
        DATABASE_URL: db.url,
        MANDATE_MASTER_KEY: randomBytes(32).toString('base64'),
        MANDATE_DATA: folder,
        MANDATE_MODE: 'live',
        DATABASE_UNVERIFIED: 'on',
      };
      await migrateDatabase(live);
      await commandLine(['party', 'create', '--name', 'Shop', '--id', 'P1'], live);
      const shop = ['--name', 'Shop', '--currency', 'EUR', '--url', 'https://shop.example', '--id', 'S1'];
      await commandLine(['shop', 'create', '--party', 'P1', '--category', '1', ...shop], live);
      const args = ['--party', 'P1', '--shop', 'S1', '--product', 'Ticket', '--amount', '1'];
      expect(await commandLine(['links', 'create', ...args], live)).toMatchObject({
        code: 1,
        output: '',
        errors: expect.stringContaining('Payers cannot reach http://127.0.0.1:8080. Set PUBLIC_URL'),
      });
      const reached = { ...live, PUBLIC_URL: publicUrl };
      const empty = { code: 0, output: '[]\n', errors: '' };
      expect(await commandLine(['links', 'list', '--party', 'P1', '--json'], reached)).toEqual(empty);
      const { output } = await commandLine(['links', 'create', ...args], reached);
      expect(output).toContain(`${publicUrl}/checkout?`);
    } finally {
      await db.drop();
    }
  });

  test.each([
    ['--amount is "5000-1000"', ['--amount', '5000-1000']],
    ['--amount is "1-2-3"', ['--amount', '1-2-3']],
    ['--amount is "0"', ['--amount', '0']],
    ['--amount is "6.00"', ['--amount', '6.00']],
    ['--days is "0"', ['--amount', '1', '--days', '0']],
    ['--days is "1097"', ['--amount', '1', '--days', '1097']],
    ['--product has 0 characters', ['--amount', '1', '--product', ' ']],
    ['--name has 101 characters', ['--amount', '1', '--name', 'x'.repeat(101)]],
    ['--description has 1001 characters', ['--amount', '1', '--description', 'x'.repeat(1_001)]],
    ['has no shop NONE', ['--amount', '1', '--shop', 'NONE']],
    ['Party NONE not found', ['--amount', '1', '--party', 'NONE']],
  ])('is not created where %s', async (message, args) => {
    const before = await list();
    const usual = product.filter((_, index) => !args.includes(product[index - (index % 2)] ?? ''));
    expect(await run(['create', ...usual, ...args])).toMatchObject({
      code: 1,
      output: '',
      errors: expect.stringContaining(message),
    });
    expect(await list()).toEqual(before);
  });

  test('is not created for a shop that may not trade', async () => {
    const suspended = await service.createMerchant();
    const of = ['--party', suspended.partyId];
    await commandLine(['shop', 'suspend', 'TEST', ...of], {
      DATABASE_URL: service.testDatabase.url,
      MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    });
    const args = [...of, '--shop', 'TEST', '--product', 'Ticket', '--amount', '1'];
    const refused = await run(['create', ...args]);
    expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining('No link was created.') });
    expect(await json('list', ...of)).toEqual([]);
  });
});
