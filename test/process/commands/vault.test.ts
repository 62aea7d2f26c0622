// mandate vault rotate as a process of its own, while a service runs.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cardBody, paymentResourcesUrl } from '../../support/worlds/cards.ts';
import { mandate } from '../../support/processes/program.ts';
import { startTestService, type TestService } from '../../support/service/test-service.ts';

const masterKey = Buffer.alloc(32, 9).toString('base64');
let service: TestService;

beforeAll(async () => void (service = await startTestService({ MANDATE_MASTER_KEY: masterKey })));
afterAll(() => service.close());

test('mandate vault rotate encrypts every card with a new key, and the running service decrypts them', async () => {
  const { apiKey: token } = await service.createMerchant();
  const tokenise = () => service.call('POST', paymentResourcesUrl, { token, body: cardBody() });
  const made = [await tokenise(), await tokenise()];
  const environment = { DATABASE_URL: service.testDatabase.url, MANDATE_MASTER_KEY: masterKey };

  const { code, output, errors } = await mandate(['vault', 'rotate', '--wait', '0'], environment);
  expect([code, errors]).toEqual([0, '2 cards\n']);
  expect(output).toBe('Encrypted 2 cards with key version 2.\n');
  // This node has not read the new key yet: it encrypts with the previous one and decrypts both.
  expect((await tokenise()).status).toBe(201);
  for (const { body } of made) {
    const revealed = await service.vault.detokenise({
      token: body.paymentToolToken,
      session: body.paymentSession,
    });
    expect(revealed).toMatchObject({ number: '4242424242424242', securityCode: '123' });
  }
});
