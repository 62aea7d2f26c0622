import { describe, expect, test } from 'vitest';
import { senderProblem } from '../../identities/domain/sender.ts';
import { transliterated } from '../../identities/domain/transliteration.ts';
import { freezeSender, recipientOf, refreeze, type FrozenSender } from './payout-sender.ts';

const person = { name: 'Пётр', class: 'person' };
const wanted = {
  walletId: '1NvbIoO4BTkQ7xLm2Vw9Zr',
  network: 'visa',
  terms: {},
  sender: {},
  identity: person,
};

test.each([
  ['Щукин Пётр', 'Shchukin Petr'],
  ['ЮРИЙ', 'IURII'],
  ['Подъезд', 'Podieezd'],
  ['Łódź, ß Ærø', 'Lodz, ss Aeroe'],
  ['O’Brien №5', "O'Brien No5"],
])('%s is written as %s', (given, sent) => {
  expect(transliterated(given)).toBe(sent);
});

test('characters without a Latin form are refused', () => {
  expect(transliterated('山田')).toBeUndefined();
  expect(senderProblem({ city: '東京' })).toContain('sender.city: must be in characters');
  expect(senderProblem({ city: 'a\tb' })).toContain('sender.city: must be in characters');
});

test.each([
  ['Щ'.repeat(7), undefined],
  // Four Latin characters each: 32 of at most 30.
  ['Щ'.repeat(8), 'sender.firstName: must be at most 30 Latin characters, and is 32'],
])('lengths are counted after transliteration: %s', (firstName, problem) => {
  expect(senderProblem({ firstName, lastName: 'A' })).toBe(problem);
});

test('an account is not the number of a card', () => {
  expect(senderProblem({ account: '4242 4242 4242 4242' })).toContain('sender.account');
  expect(senderProblem({ account: 'DE89370400440532013000' })).toBeUndefined();
});
test('the parts of a name come together, and are not blank', () => {
  expect(senderProblem({ firstName: 'A' })).toContain('must come together');
  expect(senderProblem({ city: ' ' })).toBe('sender.city: must not be blank');
});

describe('a sender is frozen', () => {
  test('with a reference, a source of funds and a purpose, even if nothing is known or asked', () => {
    expect(freezeSender(wanted)).toEqual({
      ok: true,
      value: {
        given: {},
        sent: { reference: 'O4BTkQ7xLm2Vw9Zr', sourceOfFunds: '05' },
        purpose: 'FD',
      },
    });
    const terms = { sourceOfFunds: '04', purposes: ['PP', 'FD'] } as const;
    expect(freezeSender({ ...wanted, terms })).toMatchObject({
      value: { sent: { sourceOfFunds: '04' }, purpose: 'PP' },
    });
    expect(freezeSender({ ...wanted, terms, purpose: 'FD' })).toMatchObject({ value: { purpose: 'FD' } });
  });

  test('from the identity, changed by the request, in both forms', () => {
    const identity = { ...person, sender: { firstName: 'Пётр', lastName: 'Щукин', city: 'Тверь' } };
    const frozen = freezeSender({ ...wanted, identity, sender: { city: 'Москва' } });
    expect(frozen).toMatchObject({
      value: {
        given: { firstName: 'Пётр', lastName: 'Щукин', city: 'Москва' },
        sent: { firstName: 'Petr', lastName: 'Shchukin', city: 'Moskva' },
      },
    });
  });

  test('of another name without anything of the identity', () => {
    const identity = {
      ...person,
      sender: { firstName: 'A', lastName: 'B', account: 'DE89370400440532013000' },
    };
    const frozen = freezeSender({ ...wanted, identity, sender: { name: 'Acme' } });
    expect((frozen as { value: FrozenSender }).value.given).toEqual({ name: 'Acme' });
  });
  test('with the name of a company, if it is short enough', () => {
    const terms = { demands: { '*': ['name'] } } as const;
    const company = (name: string) =>
      freezeSender({ ...wanted, terms, identity: { name, class: 'company' } });
    expect(company('ООО Ромашка')).toMatchObject({ value: { sent: { name: 'OOO Romashka' } } });
    expect(company('Р'.repeat(31))).toMatchObject({ refusal: { code: 'payoutSenderIncomplete' } });
  });
});

describe('a payout is refused', () => {
  const terms = {
    demands: { '*': ['name', 'birthDate'], visa: ['address', 'city'], jcb: ['account'] },
  } as const;

  test('with the names of the fields that its network and every network demand', () => {
    expect(freezeSender({ ...wanted, terms, sender: { city: 'Tver' } })).toEqual({
      ok: false,
      refusal: {
        code: 'payoutSenderIncomplete',
        message:
          'The bank needs more about the sender of this payout: name, address, birthDate. Send them as sender.',
        details: { fields: 'name, address, birthDate' },
      },
    });
    const sender = { firstName: 'A', lastName: 'B', birthDate: '1990-12-31' };
    expect(freezeSender({ ...wanted, network: 'mastercard', terms, sender }).ok).toBe(true);
    expect(freezeSender({ ...wanted, network: 'jcb', terms, sender })).toMatchObject({
      refusal: { details: { fields: 'account' } },
    });
  });

  test('for a purpose that the terminal does not have', () => {
    expect(freezeSender({ ...wanted, purpose: 'GP' })).toMatchObject({
      refusal: { code: 'payoutPurposeNotAllowed', message: expect.stringContaining('Use FD') },
    });
  });
});

describe('the recipient of a payout', () => {
  test('is the person of an identity, in Latin characters and without the rest', () => {
    const named = { firstName: 'Пётр', lastName: 'Щукин', city: 'Тверь', birthDate: '1990-12-31' };
    expect(recipientOf(named)).toEqual({ firstName: 'Petr', lastName: 'Shchukin' });
    expect(recipientOf({ ...named, country: 'RUS' })).toMatchObject({ country: 'RUS' });
    expect(recipientOf({ name: 'Acme', country: 'RUS' })).toBeUndefined();
    expect(recipientOf(undefined)).toBeUndefined();
  });

  test('stays when the payout moves to another terminal', () => {
    const recipient = { firstName: 'Petr', lastName: 'Shchukin' };
    const frozen = freezeSender({ ...wanted, recipient });
    if (!frozen.ok) throw new Error(frozen.refusal.code);
    const terms = { sourceOfFunds: '04' } as const;
    expect(refreeze(frozen.value, wanted.walletId, wanted.network, terms)).toMatchObject({
      value: { sent: { sourceOfFunds: '04' }, recipient },
    });
  });
});
