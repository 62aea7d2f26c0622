import { expect, test } from 'vitest';
import type { Books, EventRow, Fact } from '../rows.ts';
import { emailsOfSubscriptions } from './emails.ts';

const entry = (sequence: number, ...facts: Fact[]) =>
  ({
    aggregate: 'subscription',
    aggregate_id: 'S',
    sequence,
    transaction: sequence,
    part: sequence,
    facts,
  }) as unknown as EventRow;

const email = (payment_id: string, recipient = 'payer@example.com') => ({
  about: 'subscription',
  invoice_id: 'S',
  payment_id,
  status: 'sent',
  recipient,
  wake_at: null,
  stuck_at: null,
});

const log = [
  entry(1, { type: 'subscription_created' }, { type: 'subscription_started' }),
  entry(2, { type: 'period_created' }),
  entry(3, { type: 'payer_reminded' }),
];

function problemsWith(payerEmails: readonly ReturnType<typeof email>[], events = log): string[] {
  const books = {
    events,
    payerEmails,
    subscriptions: [{ subscription_id: 'S', customer_id: 'C' }],
    customers: [{ customer_id: 'C', status: 'ready', email: 'payer@example.com' }],
  } as unknown as Books;
  return emailsOfSubscriptions({ books }).map(([, problem]) => problem);
}

test.each<[string, string[], ReturnType<typeof email>[]]>([
  ['nothing is wrong', [], [email('0.started'), email('2.reminder')]],
  ['one is missing', ['no email says started after version 0'], [email('2.lastWarning')]],
  [
    'one is of no step',
    ['email 1.started follows from none of its steps'],
    [email('0.started'), email('1.started'), email('2.reminder')],
  ],
  [
    'one is written twice',
    ['2.reminder and 2.lastWarning are of one step'],
    [email('0.started'), email('2.reminder'), email('2.lastWarning')],
  ],
  [
    'one is for another person',
    ['email 2.reminder went to other@example.com'],
    [email('0.started'), email('2.reminder', 'other@example.com')],
  ],
])('%s', (_what, expected, emails) => {
  expect(problemsWith(emails)).toEqual(expected);
});

test('a last step needs no other email than that of the end', () => {
  const ended = [...log, entry(4, { type: 'subscription_unpaid' }, { type: 'subscription_ended' })];
  expect(problemsWith([email('0.started'), email('2.reminder'), email('3.ended')], ended)).toEqual([]);
});

test('a payer has one email about an unpaid period', () => {
  const unpaid = entry(4, { type: 'subscription_unpaid' });
  const other = entry(5, { type: 'period_paid' }, { type: 'subscription_unpaid' });
  const sent = [email('0.started'), email('2.reminder'), email('3.notCollected')];
  expect(problemsWith(sent, [...log, unpaid, other])).toEqual([]);
  expect(problemsWith(sent.slice(0, 2), [...log, unpaid, other])).toEqual([
    'no email says notCollected after version 3',
  ]);
});

test('a subscription that continues another starts without an email', () => {
  const terms = { firstPeriod: { number: 7, startsOn: '2026-01-19' } };
  const [, ...later] = log;
  const started = entry(1, { type: 'subscription_created', terms }, { type: 'subscription_started' });
  expect(problemsWith([email('2.reminder')], [started, ...later])).toEqual([]);
});

test('an email of the second write of a transaction is named by the version before that', () => {
  const together = (sequence: number, type: string) =>
    ({ ...entry(sequence, { type }), transaction: '4', part: 4 }) as unknown as EventRow;
  const twice = [...log, together(4, 'charge_started'), together(5, 'charge_failed')];
  const others = [email('0.started'), email('2.reminder')];
  expect(problemsWith([...others, email('4.declined')], twice)).toEqual([]);
  expect(problemsWith([...others, email('5.declined')], twice)).toEqual([
    'email 5.declined follows from none of its steps',
  ]);
  expect(problemsWith([...others, email('3.declined'), email('4.declined')], twice)).toEqual([
    '3.declined and 4.declined are of one step',
  ]);
});
