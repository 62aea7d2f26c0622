// The simulation can only break operations that its clients call.
import { expect, test } from 'vitest';
import { routes, sandboxRoutes } from '../../src/app/routes.ts';
import { chanceOf } from '../world/chance.ts';
import { actions } from './clients.ts';
import { knownTo, type Wish } from './knowledge.ts';

/** A merchant with one of every object. */
function knowingAll() {
  const known = knownTo('party', 'key');
  const invoiceId = 'I';
  known.invoices.push({ id: invoiceId, token: 'token', shop: 'TEST', currency: 'RUB', amount: 100 });
  known.payments.push({ invoiceId, paymentId: '1', amount: 100, currency: 'RUB' });
  known.holds.push({ invoiceId, paymentId: '1', amount: 100, currency: 'RUB' });
  known.parents.push({ invoiceId, paymentId: '1' });
  known.cards.push({ token: 'card', session: 'session' });
  known.series.push('S');
  known.consentLinks.push({ id: 'L', path: '/consent/L/secret', textHash: 'hash' });
  known.templates.push({ id: 'T', token: 'token' });
  known.customers.push({ id: 'C', token: 'token' });
  known.bindings.push({ customerId: 'C', id: '1' });
  known.subscriptions.push('U');
  known.payerPages.push({ path: '/subscription/U/secret', token: 'token' });
  known.openPeriods.push('I');
  known.identities.push('identity');
  known.wallets.push('wallet');
  known.payoutCards.push('card');
  known.destinations.push('destination');
  known.withdrawals.push('withdrawal');
  known.transfers.push('transfer');
  known.challenges.push({ identity: 'identity', id: 'challenge' });
  known.exports.push('export');
  known.webhooks.push('webhook');
  known.walletWebhooks.push({ identity: 'identity', id: 'webhook' });
  return known;
}

const wishesEach = 200;

function operationOf({ method, path: whole }: Wish): string | undefined {
  const [path = ''] = whole.split('?');
  const fits = (template: string) => new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);
  return [...routes, ...sandboxRoutes].find((one) => one.method === method && fits(one.path))?.operation;
}

test('the clients call every operation of the API', () => {
  const chance = chanceOf(1, 'operations');
  const now = () => '2026-01-19T10:00:00.000Z';
  const wished = actions.flatMap(({ wish }) =>
    Array.from({ length: wishesEach }, () => wish(knowingAll(), chance, now)).flatMap((one) => one ?? []),
  );
  const called = new Set(wished.filter(({ isOfPayer = false }) => !isOfPayer).map(operationOf));
  expect(called).not.toContain(undefined);
  const all = [...routes, ...sandboxRoutes].map(({ operation }) => operation);
  expect(all.filter((operation) => !called.has(operation))).toEqual([]);
});
