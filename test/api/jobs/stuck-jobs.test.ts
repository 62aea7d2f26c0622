// A stuck job waits for an operator, unless the invoice changes without one.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService, type Merchant, type TestService } from '../../support/service/test-service.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';

let service: TestService;
let merchant: Merchant;

beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
});
afterAll(() => service.close());

/** As the job runner leaves an invoice whose step has failed for the last time. */
async function getStuck(invoiceId: string): Promise<void> {
  await service.database.withClient((client) =>
    client.query(
      `update invoice set wake_at = null, attempts = 15, stuck_at = $2, stuck_reason = 'Error: no'
       where invoice_id = $1`,
      [invoiceId, service.clock.now()],
    ),
  );
}

test('an invoice changed by its merchant is no longer stuck, another one still is', async () => {
  const [changed, left] = [await makeInvoice(service, merchant), await makeInvoice(service, merchant)];
  for (const { id } of [changed, left]) await getStuck(id);
  const stuckIds = async () => (await service.jobs.stuckJobs()).map(({ id }) => id).sort();
  expect(await stuckIds()).toEqual([changed.id, left.id].sort());

  const rescinded = await service.call('POST', `${invoicesUrl}/${changed.id}/rescind`, {
    token: merchant.apiKey,
    body: { reason: 'x' },
  });
  expect(rescinded.status).toBe(204);
  expect(await stuckIds()).toEqual([left.id]);
  expect(await service.jobs.retry('invoice', changed.id)).toBe(false);
});
