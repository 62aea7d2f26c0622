import { expect, test } from 'vitest';
import { instantAt } from '../clock.ts';
import { destinationsTopic, withdrawalsTopic } from './webhook-events.ts';

const createdAt = instantAt(Date.UTC(2024, 2, 1, 12));
const events = (...facts: unknown[]) =>
  facts.map((fact, index) => ({ sequence: index + 1, createdAt, facts: [fact] }));

const withdrawal = {
  id: 'tZ0jUmlsV0',
  partyId: 'PARTY',
  identityId: '1Bq5',
  walletId: '10068321',
  walletPartyId: 'PARTY',
  destinationId: '107498',
  createdAt,
  amountMinor: 100_000,
  currency: 'RUB',
  feeMinor: 500,
  externalId: 'payout-2024-03-01-7',
  // Empty members are not sent.
  metadata: {},
};

test('the events of a failed withdrawal have its terms and its failure', () => {
  const log = events(
    { type: 'withdrawal_started', terms: withdrawal },
    { type: 'withdrawal_failed', failure: ['authorization_failed', 'account_not_found'] },
  );
  const webhookEvents = withdrawalsTopic.webhookEventsOf(log);
  const body = { amount: 100_000, currency: 'RUB' };
  const places = { wallet: '10068321', destination: '107498' };
  const externalID = 'payout-2024-03-01-7';
  expect(webhookEvents.map(({ eventType, members }) => [eventType, members])).toEqual([
    ['WithdrawalStarted', { withdrawal: { id: 'tZ0jUmlsV0', createdAt, ...places, body, externalID } }],
    [
      'WithdrawalFailed',
      {
        withdrawalID: 'tZ0jUmlsV0',
        externalID,
        ...places,
        body,
        fee: { amount: 500, currency: 'RUB' },
        failure: { code: 'authorization_failed', subError: { code: 'account_not_found' } },
      },
    ],
  ]);
  expect(withdrawalsTopic.ownersOf(log[0]!.facts)).toEqual([{ id: '1Bq5', part: '10068321' }]);
});

test('a new destination makes a created and an unauthorized event, then an authorized one', () => {
  const terms = {
    id: '107498',
    partyId: 'PARTY',
    identityId: '1Bq5',
    createdAt,
    name: 'Card of Ivan',
    currency: 'RUB',
    card: { bin: '424242', lastDigits: '4242', mask: '424242******4242', paymentSystem: 'visa' },
    metadata: { display_name: 'Main card' },
  };
  const log = events({ type: 'destination_created', terms }, { type: 'destination_authorized' });
  expect(
    destinationsTopic
      .webhookEventsOf(log)
      .map(({ sequence, index, eventType, members }) => [sequence, index, eventType, members]),
  ).toEqual([
    [
      1,
      0,
      'DestinationCreated',
      {
        destination: {
          id: '107498',
          name: 'Card of Ivan',
          identity: '1Bq5',
          currency: 'RUB',
          resource: {
            type: 'BankCard',
            cardNumberMask: '424242******4242',
            bin: '424242',
            lastDigits: '4242',
            paymentSystem: 'visa',
          },
          metadata: { display_name: 'Main card' },
        },
      },
    ],
    [1, 1, 'DestinationUnauthorized', { destinationID: '107498' }],
    [2, 0, 'DestinationAuthorized', { destinationID: '107498' }],
  ]);
  expect(destinationsTopic.ownersOf(log[0]!.facts)).toEqual([{ id: '1Bq5' }]);
});

test('unknown facts from a newer node are skipped', () => {
  expect(withdrawalsTopic.typesOf([{ type: 'fact_of_tomorrow' }])).toEqual([]);
  expect(destinationsTopic.typesOf([{ type: 'fact_of_tomorrow' }])).toEqual([]);
});
