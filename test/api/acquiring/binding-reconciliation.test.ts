// Reconciliation of verification charges: for every course of a binding the report matches.
// Each missing line and each extra line is a difference.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BookEntry } from '../../../src/acquiring/adapters/http/messages.ts';
import { reconciliationSources } from '../../../src/app/sources/reconciliation-sources.ts';
import { reconcile } from '../../../src/acquiring/reconciliation/reconcile.ts';
import {
  customersUrl,
  startCustomerWorld,
  type CustomerWorld,
  type MadeBinding,
} from '../../support/worlds/customer-world.ts';
import { waylay } from '../../support/bank/faulty-bank.ts';

const good = '4242424242424242';
const declined = '4000000000000002';
const challenging = '4012888888881881';
const hourMs = 3_600_000;

let world: CustomerWorld;
let clean: readonly BookEntry[];
const lives: Record<string, MadeBinding> = {};

beforeAll(async () => {
  world = await startCustomerWorld();
  const bank = waylay(world.service.banks);
  const refuseReversal = () => bank.happens('reverse', { outcome: 'declined', network: 'bank', code: '12' });
  const bound = async (card = good) => world.bound(await world.createCustomer(), card);

  lives['reversed'] = await bound();
  refuseReversal();
  lives['refunded'] = await bound();
  lives['declined'] = await bound(declined);
  lives['withdrawn'] = await bound();
  await world.withdraw(lives['withdrawn']);

  // The outcome stays unknown past the limit. The bank had charged in one case only.
  bank.always('inquire', 'message lost');
  bank.happens('authorise', 'answer lost');
  lives['reversed after an unknown outcome'] = await bound();
  bank.happens('authorise', 'message lost');
  lives['never arrived'] = await bound();
  await world.later(2 * hourMs);
  bank.always('inquire', undefined);

  // The customer is deleted while the bank reverses.
  const customer = await world.createCustomer();
  bank.happens('reverse', 'message lost');
  lives['of a deleted customer'] = await world.bound(customer, good);
  await world.service.call('DELETE', `${customersUrl}/${customer.id}`, { token: world.merchant.apiKey });
  await world.later(60_000);

  refuseReversal();
  bank.always('refund', 'message lost');
  const closed = await bound();
  lives['resolved by an operator'] = closed;
  const isClosed = await world.closeReturn({ customerId: closed.id, bindingId: closed.bindingId }, 'seen');
  if (!isClosed) throw new Error('the verification refund was not resolved');

  bank.always('reverse', 'message lost');
  lives['waiting for its refund'] = await bound();
  bank.always('reverse', undefined);
  lives['waiting for the payer'] = await bound(challenging);
  clean = await world.book();
}, 120_000);
afterAll(() => world.close());

async function differing(entries: readonly BookEntry[]): Promise<string[]> {
  const { differences } = await reconcile({
    db: world.service.database,
    clock: world.service.clock,
    comparison: reconciliationSources,
    book: {
      grows: true,
      async *entriesAfter(sequence) {
        yield entries.filter((entry) => entry.sequence > sequence);
      },
    },
    bankId: 'BANK',
    period: {},
    pendingHours: 24,
    maxList: 100,
    report: () => {},
  });
  return differences.map(
    ({ class: name, operationId, atStakeMinor }) => `${name} ${operationId.split('.')[2]} ${atStakeMinor}`,
  );
}

const nameOf = (life: string) => `${lives[life]!.id}.${lives[life]!.bindingId}`;
const linesOf = (life: string) =>
  clean
    .filter(({ operationId }) => operationId.startsWith(nameOf(life)))
    .map((line) => line.operationId.split('.')[2]);

test('every course has the expected operations, and the unchanged report has no difference', async () => {
  expect(Object.fromEntries(Object.keys(lives).map((life) => [life, linesOf(life)]))).toEqual({
    reversed: ['charge', 'reverse'],
    refunded: ['charge', 'refund'],
    declined: [],
    withdrawn: ['charge', 'reverse'],
    'reversed after an unknown outcome': ['charge', 'reverse'],
    'never arrived': [],
    'of a deleted customer': ['charge', 'reverse'],
    'resolved by an operator': ['charge'],
    'waiting for its refund': ['charge'],
    'waiting for the payer': [],
  });
  expect(await differing(clean)).toEqual([]);
});

test.each<[string, 'charge' | 'reverse' | 'refund', string[]]>([
  ['reversed', 'charge', ['missing_at_bank charge -1000']],
  ['reversed', 'reverse', ['reversal_missing reverse 1000']],
  ['refunded', 'refund', ['missing_at_bank refund 1000']],
  ['withdrawn', 'reverse', ['reversal_missing reverse 1000']],
  ['reversed after an unknown outcome', 'charge', ['unexpected_success reverse -1000']],
  ['reversed after an unknown outcome', 'reverse', ['reversal_missing charge 1000']],
  ['of a deleted customer', 'reverse', ['reversal_missing reverse 1000']],
  ['waiting for its refund', 'charge', ['missing_at_bank charge -1000']],
  ['resolved by an operator', 'charge', []],
])('a binding %s, with the line of the %s missing', async (life, suffix, expected) => {
  const gone = `${nameOf(life)}.${suffix}`;
  expect(await differing(clean.filter(({ operationId }) => operationId !== gone))).toEqual(expected);
});

test.each<[string, 'charge' | 'reverse' | 'refund', string[]]>([
  ['reversed', 'refund', ['unexpected_success refund -1000']],
  ['refunded', 'reverse', ['unexpected_success reverse -1000']],
  ['declined', 'charge', ['reversal_missing charge 1000']],
  ['declined', 'reverse', ['unexpected_success reverse -1000']],
  ['never arrived', 'charge', ['reversal_missing charge 1000']],
  ['waiting for the payer', 'charge', []],
  ['waiting for the payer', 'refund', ['unexpected_success refund -1000']],
  ['waiting for its refund', 'reverse', []],
  ['resolved by an operator', 'refund', []],
])('a binding %s, with an extra line of the %s', async (life, suffix, expected) => {
  const kinds = { charge: 'authorise', reverse: 'reverse', refund: 'refund' } as const;
  const [{ at }] = clean as [BookEntry];
  const line: BookEntry = {
    sequence: 1_000,
    operationId: `${nameOf(life)}.${suffix}`,
    kind: kinds[suffix],
    amount: 1_000,
    currency: 'RUB',
    sign: suffix === 'charge' ? 1 : -1,
    at,
    cardMask: '424242******4242',
  };
  expect(await differing([...clean, { ...line, cardMask: maskOf(life) }])).toEqual(expected);
});

function maskOf(life: string): string {
  return lives[life]!.created.body.paymentResource.paymentToolDetails.cardNumberMask as string;
}

test.each<[keyof BookEntry, Partial<BookEntry>, string]>([
  ['amount', { amount: 1_100 }, 'amount charge 100'],
  ['cardMask', { cardMask: '555555******4444' }, 'card charge 1000'],
  ['currency', { currency: 'USD' }, 'currency charge -1000'],
])('another %s of a verification charge is a difference', async (_, change, expected) => {
  const name = `${nameOf('reversed')}.charge`;
  const wrong = clean.map((line) => (line.operationId === name ? { ...line, ...change } : line));
  expect(await differing(wrong)).toEqual([expected]);
});
