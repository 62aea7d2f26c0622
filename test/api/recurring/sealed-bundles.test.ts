// Consent bundles that version 0.2.0 sealed: they verify, and today's bundles have every member that those have.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { consentSheet } from '../../../src/recurring/domain/consent-sheet.ts';
import { readBundle } from '../../../src/recurring/store/codec.ts';
import { verifyBundle } from '../../../src/recurring/consent-bundle.ts';
import { startCustomerWorld } from '../../support/worlds/customer-world.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import { recurringWorld } from '../../support/worlds/recurring.ts';

const recorded = (of: string) =>
  readFileSync(new URL(`../../histories/0.2.0/consent-of-${of}.ndjson`, import.meta.url), 'utf8');

/** What the payer agreed to in the recorded bundle of a payment. */
const agreed = {
  schedule: 'P1M',
  validUntil: '2026-12-31',
  amountRule: { kind: 'upTo', amount: 200_000 },
  trialEnd: '2026-02-28',
  amountAfterTrial: 49_900,
  consent: {
    ticked: true,
    tickedAt: '2026-01-19T09:59:00Z',
    text: 'I agree to be charged up to 2000.00 RUB every month.',
    checkbox: 'recurring',
    locale: 'en',
    version: 'terms-7',
  },
};

test.each(['payment', 'binding'])('the bundle of a %s verifies, and is shown', (of) => {
  const file = recorded(of);
  const verified = verifyBundle(file);
  if (!verified.ok) throw new Error(verified.why);
  const { bundle } = verified;
  expect(verifyBundle(file, [bundle.publicKey]).ok).toBe(true);
  expect(verifyBundle(file.replace('2000.00', '9000.00')).ok).toBe(false);
  const sheet = consentSheet(readBundle(bundle));
  expect(sheet).toContain('up to 2000.00 RUB every month.');
  expect(sheet).toContain(bundle.signature);
});

test('a bundle of today has each member, whatever it has besides', async () => {
  const world = await startCustomerWorld();
  try {
    const { service, merchant } = world;
    const token = merchant.apiKey;
    service.clock.set(Date.UTC(2026, 0, 19, 10));
    const invoice = await makeInvoice(service, merchant);
    const { token: paymentToolToken } = await world.tokenize('4242424242424242');
    const contactInfo = { email: 'payer@example.com' };
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo };
    const url = `${invoicesUrl}/${invoice.id}/payments`;
    await service.call('POST', url, { token, body: { payer, makeRecurrent: true, recurrentTerms: agreed } });
    await service.jobs.whenIdle();
    const parent = { invoiceID: invoice.id, paymentID: '1' };
    service.clock.advance(10 * 24 * 3_600_000);
    const { charged } = recurringWorld(world);
    expect([await charged(parent, 40_000), await charged(parent, 199_051)]).toEqual(['captured', 'failed']);
    const body = { reason: 'Cancelled in the account' };
    await service.call('POST', `${url}/1/recurring/withdraw`, { token, body });
    const { body: bundle } = await service.call('GET', `${url}/1/recurring/consent`, { token });
    const before = membersOf(JSON.parse(recorded('payment')));
    expect(before).toContain('entries.facts.terms.mandate.consent.text');
    expect(before.filter((member) => !membersOf(bundle).includes(member))).toEqual([]);
  } finally {
    await world.close();
  }
});

/** The path of every member, without the places in lists. */
function membersOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inside = Object.entries(value).flatMap(([name, member]) =>
    membersOf(member, Array.isArray(value) ? path : [path, name].filter(Boolean).join('.')),
  );
  return [...new Set(inside)];
}
