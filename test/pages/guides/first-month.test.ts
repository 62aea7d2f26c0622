// The link that the guide of the first month prints, paid in a browser. The test of the guide's commands pays by the API in its place.
import { execFile } from 'node:child_process';
import { chmodSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../support/database/test-cluster.ts';
import { commandBlocksOf } from '../../support/documents/command-blocks.ts';
import { describeInBrowser } from '../../support/processes/browser.ts';
import { startCheckoutWorld, type CheckoutWorld } from '../../support/worlds/checkout-world.ts';
import { invoicesUrl } from '../../support/worlds/invoices.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

describeInBrowser('the link of the first month', () => {
  let world: CheckoutWorld;
  const { folder, remove } = temporaryFolder();

  beforeAll(async () => void (world = await startCheckoutWorld()));
  afterAll(async () => {
    await world?.close();
    await remove();
  });

  /** Runs the blocks of the guide up to its link, against the service of this test. */
  async function printedLink(): Promise<string> {
    const guide = readFileSync(join(repository, 'docs/guide/recurring/first-month.md'), 'utf8');
    const blocks = commandBlocksOf(guide);
    const last = blocks.findIndex(({ commands }) => commands.includes('/checkout?'));
    const sandbox = JSON.stringify({ url: world.address, apiKey: world.merchant.apiKey });
    writeFileSync(join(folder, 'npx'), `#!/bin/sh\necho '${sandbox}'\n`);
    chmodSync(join(folder, 'npx'), 0o755);
    symlinkSync(join(repository, 'examples'), join(folder, 'examples'));
    const script = blocks.slice(0, last + 1).map(({ commands }) => commands);
    const { stdout } = await promisify(execFile)('bash', ['-ec', script.join('\n')], {
      cwd: folder,
      env: { PATH: `${folder}:${process.env['PATH']}` },
    });
    return stdout.trim();
  }

  test('takes the payment and the consent on which the guide charges again', async () => {
    const page = await world.open(await printedLink());
    await page.locator('#email').fill('payer@example.com');
    await page.locator('#number').fill('4242424242424242');
    await page.locator('#expiry').fill('12/35');
    await page.locator('#code').fill('123');
    await page.locator('#consent').check();
    expect(await page.locator('#amount').textContent()).toBe('RUB\u00a0299.00');
    await page.locator('#pay').click();
    await page.getByRole('heading', { name: 'Paid' }).waitFor();

    const id = new URL(page.url()).searchParams.get('invoiceID');
    const read = async (path: string) =>
      (
        await world.service.call('GET', `${invoicesUrl}/${id}/payments/1${path}`, {
          token: world.merchant.apiKey,
        })
      ).body;
    expect(await read('')).toMatchObject({ status: 'captured', makeRecurrent: true });
    expect(await read('/recurring?amount=29900')).toMatchObject({ mayCharge: true });
    expect(await read('/recurring?amount=29901')).toMatchObject({
      refusal: { code: 'recurrentAmountAboveConsent' },
    });
    const { entries } = await read('/recurring/consent');
    expect(entries[0].facts[0].terms.mandate).toMatchObject({
      schedule: 'P1M',
      amountRule: { kind: 'fixed', amountMinor: 29_900 },
      consent: { ticked: true, text: expect.stringContaining('299.00') },
    });
  });
});
