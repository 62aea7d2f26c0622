// Whether a payer is authenticated, and the step-up of a payment that an issuer declines without a challenge.
import { describe, expect, test } from 'vitest';
import type { BankResponse } from '../../../acquiring/domain/bank-port.ts';
import { laterBy, parseInstant, type Instant } from '../../../clock.ts';
import type { Currency } from '../../../money.ts';
import { interpret, nextAction } from '../bank-actions.ts';
import { authorisationOf, followUpOf } from '../bank-operations.ts';
import { bankExchangesOf } from '../exchanges/bank-exchanges.ts';
import { evolve, operationIdOf, type Payment, type PaymentFact, type PaymentTerms } from '../payment.ts';
import type { Payer } from '../payer/payer.ts';
import { seriesEffectsOf } from '../series-effects.ts';
import { authenticationOf, keptWish, wantedCharge } from './three-d-secure.ts';
import { mayReroute } from '../../../acquiring/domain/routing/reroute.ts';

const now = parseInstant('2026-01-19T10:00:00Z') as Instant;
const card = { bin: '424242', lastDigits: '4242', mask: '424242******4242', paymentSystem: 'visa' } as const;
const contactInfo = {};
const present: Payer = {
  type: 'resource',
  token: 'v1.token',
  session: 's1.session',
  card,
  clientInfo: { fingerprint: 'f', ip: '192.0.2.1' },
  contactInfo,
};
const absent: Payer = {
  type: 'customer',
  token: 'v1.token',
  card,
  contactInfo,
  customerId: 'C',
  bindingId: '1',
  seriesId: 'S',
  warnings: [],
};
const terms: PaymentTerms = {
  invoiceId: 'I',
  id: '1',
  partyId: 'P',
  shopId: 'S',
  createdAt: now,
  amount: { minor: 6_000n, currency: 'RUB' as Currency },
  flow: { type: 'instant' },
  payer: present,
  makeRecurrent: false,
  deadline: laterBy(now, 30 * 60_000),
  terminal: { id: 'T', bankId: 'BANK', merchantId: 'M', descriptor: 'SHOP' },
  livemode: false,
  fees: {},
};
const elsewhere = { version: '2.2.0', status: 'Y', eci: '05', dsTransId: 'd', at: now, keptAs: 'K' } as const;
const softDecline = { outcome: 'declined', network: 'visa', code: '1A' } as const;
const steppedUp: PaymentFact = { type: 'payment_stepped_up', network: 'visa', code: '1A' };

function started(more: Partial<PaymentTerms> = {}): Payment {
  return evolve(undefined, { type: 'payment_started', terms: { ...terms, ...more } });
}
function factsOf(payment: Payment, answer: BankResponse, at = now): PaymentFact[] {
  const meaning = interpret(payment, answer, at);
  if (!('events' in meaning)) throw new Error('The answer proves nothing.');
  return meaning.events.flat();
}

describe('the wish', () => {
  test.each([
    ['whenTheBankSays', undefined, false, undefined],
    ['always', undefined, false, 'always'],
    ['never', undefined, false, 'never'],
    ['always', 'never', false, 'never'],
    ['never', 'whenTheBankSays', false, undefined],
    ['never', 'never', true, 'always'],
    ['whenTheBankSays', undefined, true, 'always'],
  ] as const)(
    'of shop %s and request %s, challenged: %s, is kept as %s',
    (shop, request, isChallenged, kept) =>
      expect(keptWish({ shop, request, isChallenged }).threeDSecure).toBe(kept),
  );

  test.each([
    [{}, 'preferred'],
    [{ threeDSecure: 'always' }, 'required'],
    [{ threeDSecure: 'never' }, 'none'],
    [{ threeDSecure: 'never', makeRecurrent: true }, 'required'],
    [{ makeRecurrent: true }, 'required'],
    [{ payer: absent }, 'none'],
    [{ payer: absent, threeDSecure: 'always' }, 'none'],
    [{ authenticated: elsewhere, makeRecurrent: true }, 'given'],
  ] as const)('%j asks for authentication %s', (more, asks) => {
    const payment = started(more);
    expect(authenticationOf(payment)).toBe(asks);
    expect(authorisationOf(payment, '')).toMatchObject({ authentication: asks });
  });

  test.each([
    ['always', false, { exemption: 'lowValue' }],
    ['never', false, { exemption: 'lowValue' }],
    ['whenTheBankSays', true, { threeDSecure: 'always' }],
  ] as const)(
    'of shop %s with an exemption in the request, challenged: %s, is kept as %j',
    (shop, isChallenged, kept) =>
      expect(keptWish({ shop, request: undefined, exemption: 'lowValue', isChallenged })).toEqual(kept),
  );

  test('an exemption is sent in place of a result, until the issuer demands a challenge', () => {
    const exempt = started({ exemption: 'lowValue' });
    expect(authorisationOf(exempt, '')).toMatchObject({
      authentication: 'given',
      authenticated: { exemption: 'lowValue' },
    });
    expect(wantedCharge({ ...exempt, by: 'payer', currency: 'RUB' })).toMatchObject({
      authentication: 'given',
    });
    expect(factsOf(exempt, softDecline)).toEqual([steppedUp]);
    const challenged = authorisationOf(evolve(exempt, steppedUp), '');
    expect(challenged).toMatchObject({ authentication: 'required', demandsChallenge: true });
    expect(challenged).not.toHaveProperty('authenticated');
  });

  test('a result from elsewhere is sent with the name of its value, and needs a bank that takes it', () => {
    const { keptAs, ...authenticated } = elsewhere;
    const payment = started({ authenticated: elsewhere });
    const card = { token: 'v1.token', session: 's1.session', authentication: keptAs };
    expect(authorisationOf(payment, '')).toMatchObject({ card, authenticated });
    expect(authorisationOf(payment, '')).not.toHaveProperty('authenticated.keptAs');
    const wanted = wantedCharge({ ...payment, by: 'payer', currency: 'RUB' });
    expect(wanted).toMatchObject({ authentication: 'given' });
  });

  test('a saved card is named as one, with its customer, and an entered one is not', () => {
    const savedBy = { customerId: 'C', bindingId: '1' };
    expect(authorisationOf(started({ payer: { ...present, savedBy } }), '')).toMatchObject({
      initiation: { by: 'payer', storesCard: false, usesStored: true },
      payer: { reference: 'C' },
    });
    const entered = authorisationOf(started(), '');
    expect(entered).toHaveProperty('initiation', { by: 'payer', storesCard: false });
    expect(entered).toHaveProperty('payer', { ip: '192.0.2.1', fingerprint: 'f' });
  });
});

describe('a decline for lack of a challenge', () => {
  test.each([
    ['visa 1A', softDecline],
    ['Mastercard 1A', { ...softDecline, network: 'mastercard' }],
    ['Mastercard 65', { ...softDecline, network: 'mastercard', code: '65' }],
    [
      'a word of the acquirer',
      { ...softDecline, code: 'auth_needed', by: 'acquirer', class: 'payerPresent' },
    ],
  ] as const)('%s steps the payment up', (_name, answer) =>
    expect(factsOf(started(), answer)).toEqual([
      { type: 'payment_stepped_up', network: answer.network, code: answer.code },
    ]),
  );

  test.each([
    ['visa 65', { ...softDecline, code: '65' }],
    ['a wrong PIN', { ...softDecline, code: '55' }],
    ['too few funds', { ...softDecline, code: '51' }],
    [
      'a word of the acquirer of another class',
      { ...softDecline, code: 'auth', by: 'acquirer', class: 'funds' },
    ],
    ['a code of the bank itself', { ...softDecline, network: 'bank', code: '12' }],
    ['a failed authentication', { ...softDecline, code: '3ds-failed' }],
  ] as const)('%s does not step up', (_name, answer) =>
    expect(factsOf(started(), answer)).toMatchObject([{ type: 'payment_failed' }]),
  );

  const wished = started();
  test.each([
    ['without the payer', started({ payer: absent })],
    ['where 3-D Secure is not wanted', started({ threeDSecure: 'never' })],
    ['after an authentication elsewhere', started({ authenticated: elsewhere })],
    ['a second time', evolve(wished, steppedUp)],
    [
      'after a challenge',
      evolve(wished, {
        type: 'payment_interaction_requested',
        interaction: { method: 'GET', url: 'https://issuer.example/' },
        until: laterBy(now, 600_000),
      }),
    ],
    [
      'once the merchant has cancelled',
      { ...wished, state: { name: 'authorising', cancelReason: 'no' } } as const,
    ],
  ] as const)('ends the payment %s', (_name, payment) =>
    expect(factsOf(payment, softDecline)).toMatchObject([
      { type: 'payment_failed', failure: ['authorization_failed', 'security_policy_violated'] },
    ]),
  );

  test('steps up a card to be saved and a payment that wants it always', () => {
    for (const more of [{ makeRecurrent: true }, { threeDSecure: 'always', flow: terms.flow }] as const)
      expect(factsOf(started(more), softDecline)).toMatchObject([{ type: 'payment_stepped_up' }]);
    const both = started({ makeRecurrent: true, threeDSecure: 'never' });
    expect(factsOf(both, softDecline)).toMatchObject([{ type: 'payment_stepped_up' }]);
  });

  test('is too late three minutes after the payer acted, and at the deadline', () => {
    const threeMinutes = 3 * 60_000;
    expect(factsOf(started(), softDecline, laterBy(now, threeMinutes - 1))).toMatchObject([
      { type: 'payment_stepped_up' },
    ]);
    expect(factsOf(started(), softDecline, laterBy(now, threeMinutes))).toMatchObject([
      { type: 'payment_failed' },
    ]);
    const short = started({ deadline: laterBy(now, 1_000) });
    expect(factsOf(short, softDecline, laterBy(now, 1_000))).toMatchObject([{ type: 'payment_failed' }]);
  });
});

describe('a payment that is stepped up', () => {
  const payment = evolve(started(), steppedUp);
  const approval = { reference: '123456789012' };

  test('is authorised under another ID, with a challenge', () => {
    expect(payment).toMatchObject({ isSteppedUp: true, state: { name: 'authorising' } });
    expect(nextAction(payment, now)).toEqual({ do: 'authorise' });
    expect(authorisationOf(payment, '')).toMatchObject({
      operationId: 'I.1.s',
      authentication: 'required',
      demandsChallenge: true,
    });
    const first = authorisationOf(started(), '');
    expect(first.operationId).toBe('I.1.a');
    expect(first).not.toHaveProperty('demandsChallenge');
  });

  test('is stepped up once', () => expect(() => evolve(payment, steppedUp)).toThrow('once'));

  test('what follows refers to the second charge', () => {
    const held = [{ type: 'payment_processed', approval } as const].reduce<Payment>(evolve, payment);
    const reversing = evolve(payment, {
      type: 'payment_reversal_started',
      failure: ['authorization_failed'],
    });
    const refund = { do: 'refund', id: '100', amount: terms.amount } as const;
    expect(followUpOf(reversing, { do: 'reverse' })).toMatchObject({ originalOperationId: 'I.1.s' });
    expect(followUpOf(held, refund)).toMatchObject({ operationId: 'I.1.100', originalOperationId: 'I.1.s' });
    expect(operationIdOf(held, 'capture')).toBe('I.1.c');
  });

  test('stays with its bank', () => {
    const answer = { outcome: 'notSent', why: 'refused', noBytesSent: true } as const;
    const inTime = { now, until: laterBy(now, 1) };
    expect(mayReroute(started(), answer, 1, inTime)).toBe(true);
    expect(mayReroute(payment, answer, 1, inTime)).toBe(false);
  });

  test('the networks count the first decline as one of the card', () => {
    expect(seriesEffectsOf(started(), [steppedUp], softDecline)).toEqual({
      cardDeclined: { token: 'v1.token', answer: softDecline },
    });
  });

  test('its operations are both shown', () => {
    const at = (seconds: number) => laterBy(now, seconds * 1_000);
    const log = [
      { at: now, fact: { type: 'payment_started', terms } as const },
      { at: at(1), fact: steppedUp },
      { at: at(2), fact: { type: 'payment_processed', approval } as const },
    ];
    expect(bankExchangesOf(payment, log)).toMatchObject([
      { operationId: 'I.1.a', kind: 'charge', outcome: 'declined', note: 'code 1A', endedAt: at(1) },
      {
        operationId: 'I.1.s',
        kind: 'charge',
        amount: terms.amount,
        outcome: 'approved',
        startedAt: at(1),
        approval,
      },
    ]);
  });
});
