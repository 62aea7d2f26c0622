import { describe, expect, test } from 'vitest';
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { laterBy, parseInstant, type Instant } from '../../clock.ts';
import type { Shop } from '../../merchants/domain/party.ts';
import type { Currency } from '../../money.ts';
import { interpret, nextAction } from './bank-actions.ts';
import { decideClose, decideStart, decideRevoke, type BindingRules } from './commands.ts';
import { journalOf } from './binding-postings.ts';
import {
  bindingOfOperation,
  bindingOperationId,
  bindingStatus,
  endsInteraction,
  evolveBinding,
  wakeOf,
  type Binding,
  type BindingFact,
  type BindingStateName,
} from './binding.ts';
import { written } from '../../platform/database/codec.ts';
import { customerLogFact, type CustomerLogFact } from '../store/codec.ts';
import type { Customer, CustomerFact, CustomerState } from './customer.ts';

const now = at('2026-01-19T10:00:00.123456Z');
const minute = 60_000;
const hour = 60 * minute;
const shop: Shop = {
  id: 'TEST',
  partyId: 'P',
  livemode: false,
  name: 'Shop',
  url: 'https://shop.example',
  categoryId: 1,
  currency: 'RUB' as Currency,
  fees: {},
  whenShort: 'refuse',
  threeDSecure: 'whenTheBankSays',
  oneOffReceipts: false,
  origins: [],
  isBlocked: false,
  isSuspended: false,
  createdAt: now,
};
const customer: Customer = {
  id: 'C',
  partyId: 'P',
  shopId: 'TEST',
  createdAt: now,
  contactInfo: { email: 'payer@example.com' },
  metadata: {},
  state: { name: 'unready' },
  bindingsMade: 2,
};
const rules: BindingRules = { verificationChargeMinor: new Map([['RUB', 1_000n]]) };
const command = {
  id: 'B',
  terminal: { id: 'T', bankId: 'BANK', merchantId: 'M', descriptor: 'SHOP' },
  card: {
    token: 'v1.token',
    session: 's1.session',
    details: { bin: '424242', lastDigits: '4242', mask: '424242******4242', paymentSystem: 'visa' },
    clientInfo: { fingerprint: 'f', ip: '192.0.2.1' },
  },
} as const;

const approved: BankResponse = { outcome: 'approved', reference: '900000000001', networkTransactionId: 'N1' };
const approval = { reference: '900000000001', networkTransactionId: 'N1' };
const declined: BankResponse = { outcome: 'declined', network: 'visa', code: '51' };
const interaction = { method: 'GET', url: 'https://issuer.example/' } as const;
const payerNeeded: BankResponse = { outcome: 'payerNeeded', interaction };
const pending: BankResponse = { outcome: 'pending' };
const silence: BankResponse[] = [
  { outcome: 'unknown', why: 'timeout' },
  { outcome: 'notSent', why: 'closed' },
  { outcome: 'notFound' },
];
const failure = ['authorization_failed', 'insufficient_funds'] as const;
const returnBy = laterBy(now, hour);

const started: BindingFact = (() => {
  const decision = decideStart(customer, shop, command, rules, {}, now);
  if (!decision.ok) throw new Error('the binding was refused');
  return decision.value;
})();
const facts: Record<BindingFact['type'], BindingFact> = {
  binding_started: started,
  binding_interaction_requested: {
    type: 'binding_interaction_requested',
    interaction,
    until: laterBy(now, minute),
  },
  binding_interaction_completed: { type: 'binding_interaction_completed' },
  binding_reversal_started: { type: 'binding_reversal_started', failure, returnBy },
  binding_charged: { type: 'binding_charged', approval, returnBy },
  binding_rerouted: {
    type: 'binding_rerouted',
    terminal: { id: 'T2', bankId: 'BANK2', merchantId: 'M2', descriptor: 'SHOP' },
    why: 'ECONNREFUSED',
  },
  binding_refund_started: { type: 'binding_refund_started', why: '12' },
  binding_succeeded: { type: 'binding_succeeded' },
  binding_failed: { type: 'binding_failed', failure },
  binding_withdrawn: { type: 'binding_withdrawn', at: now },
};
const { binding_charged: charged, binding_succeeded: succeeded } = facts;
const histories: Record<BindingStateName | 'absent', BindingFact[]> = {
  absent: [],
  authorising: [started],
  challenged: [started, facts.binding_interaction_requested],
  reversing: [started, facts.binding_reversal_started],
  returning: [started, charged],
  refunding: [started, charged, facts.binding_refund_started],
  succeeded: [started, charged, succeeded],
  withdrawn: [started, charged, succeeded, facts.binding_withdrawn],
  failed: [started, facts.binding_failed],
};
const states = Object.keys(histories).filter((name) => name !== 'absent') as BindingStateName[];
const after = (history: readonly BindingFact[]): Binding => {
  const binding = history.reduce<Binding | undefined>((was, fact) => evolveBinding(was, fact), undefined);
  if (!binding) throw new Error('the history is empty');
  return binding;
};
const inState = (state: BindingStateName) => after(histories[state]);
const unready: CustomerState = { name: 'unready' };
const ready: CustomerState = { name: 'ready', activeBindingId: 'OTHER' };
const deleted: CustomerState = { name: 'deleted' };

describe('the lifecycle of a binding', () => {
  test('an interaction is completed once, before what ends the challenge', () => {
    const { binding_interaction_completed: completed } = facts;
    const challenged = inState('challenged');
    const back = evolveBinding(challenged, completed);
    expect(back.state).toEqual({ ...challenged.state, isCompleted: true });
    expect(() => evolveBinding(back, completed)).toThrow('no interaction to complete');
    expect(endsInteraction(challenged, [charged])).toBe(true);
    expect(endsInteraction(challenged, [completed])).toBe(false);
    expect(endsInteraction(challenged, [{ type: 'customer_deleted' }])).toBe(false);
    expect(endsInteraction(challenged, [])).toBe(false);
    expect(endsInteraction(back, [charged])).toBe(false);
    expect(endsInteraction(inState('authorising'), [charged])).toBe(false);
  });

  // Written out, not read from the table under test.
  const expected: Record<string, Record<string, BindingStateName>> = {
    absent: { binding_started: 'authorising' },
    authorising: {
      binding_rerouted: 'authorising',
      binding_interaction_requested: 'challenged',
      binding_charged: 'returning',
      binding_failed: 'failed',
      binding_reversal_started: 'reversing',
    },
    challenged: {
      binding_interaction_completed: 'challenged',
      binding_charged: 'returning',
      binding_failed: 'failed',
      binding_reversal_started: 'reversing',
    },
    reversing: { binding_failed: 'failed' },
    returning: {
      binding_refund_started: 'refunding',
      binding_succeeded: 'succeeded',
      binding_failed: 'failed',
    },
    refunding: { binding_succeeded: 'succeeded', binding_failed: 'failed' },
    succeeded: { binding_withdrawn: 'withdrawn' },
  };
  for (const [from, history] of Object.entries(histories)) {
    for (const [type, fact] of Object.entries(facts)) {
      const to = expected[from]?.[type];
      if (to)
        test(`${from} becomes ${to} by ${type}`, () => expect(after([...history, fact]).state.name).toBe(to));
      else
        test(`${from} cannot have ${type}`, () =>
          expect(() => after([...history, fact])).toThrow(/cannot have/));
    }
  }

  test.each([
    ['authorising', 'pending', now, false],
    ['challenged', 'pending', laterBy(now, 15_000), false],
    ['reversing', 'pending', now, true],
    ['returning', 'pending', now, true],
    ['refunding', 'pending', now, true],
    ['succeeded', 'succeeded', null, false],
    ['withdrawn', 'succeeded', null, false],
    ['failed', 'failed', null, false],
  ] as const)(
    '%s is %s in the API, is due at %s, and has a refund pending: %s',
    (name, status, wakeAt, isPending) => {
      const binding = inState(name);
      expect(bindingStatus[name]).toBe(status);
      expect(wakeOf(binding, now)).toBe(wakeAt);
      expect('returnBy' in binding.state).toBe(isPending);
    },
  );
});

describe('starting a binding', () => {
  test('takes the verification charge of the currency and the next number', () => {
    expect(started).toEqual({
      type: 'binding_started',
      terms: {
        ...command,
        customerId: 'C',
        number: 3,
        partyId: 'P',
        shopId: 'TEST',
        createdAt: now,
        amount: { minor: 1_000n, currency: 'RUB' },
        email: 'payer@example.com',
        deadline: laterBy(now, 30 * minute),
        livemode: false,
      },
    });
  });

  test('is refused in a currency without a verification charge, and names the currency', () => {
    const inTenge = { ...shop, currency: 'KZT' as Currency };
    expect(decideStart(customer, inTenge, command, rules, {}, now)).toEqual({
      ok: false,
      refusal: {
        code: 'operationNotPermitted',
        message: 'No card can be bound in KZT: the operator has set no verification charge for it',
      },
    });
  });

  test.each([
    ['ofCustomer', 'Too many cards were tried for this customer'],
    ['withCard', 'This card was tried too often'],
  ])('is refused until 24 hours after the oldest counted binding (%s)', (which, says) => {
    const earlier = { [which]: laterBy(now, -23 * hour) };
    expect(decideStart(customer, shop, command, rules, earlier, now)).toEqual({
      ok: false,
      refusal: {
        code: 'tooManyBindings',
        message: `${says}. Try again in 3600 seconds.`,
        waitSeconds: 3_600,
      },
    });
    expect(decideStart(customer, shop, command, rules, earlier, laterBy(now, hour)).ok).toBe(true);
  });
});

describe('the next action', () => {
  test.each<[BindingStateName, object]>([
    ['authorising', { do: 'charge' }],
    ['challenged', { do: 'inquire' }],
    ['reversing', { do: 'reverse' }],
    ['returning', { do: 'reverse' }],
    ['refunding', { do: 'refund', amount: { minor: 1_000n, currency: 'RUB' } }],
    ['succeeded', { do: 'nothing' }],
    ['withdrawn', { do: 'nothing' }],
    ['failed', { do: 'nothing' }],
  ])('of a binding that is %s', (name, next) => {
    expect(nextAction(inState(name), { state: unready }, now)).toEqual(next);
  });

  test.each(['authorising', 'challenged'] as const)(
    'of a binding that is %s is a reversal once the customer is deleted',
    (name) => {
      expect(nextAction(inState(name), { state: deleted }, now)).toEqual({
        do: 'write',
        fact: { type: 'binding_reversal_started', failure: ['customer_deleted'], returnBy },
      });
    },
  );

  test('of a pending refund is the same once the customer is deleted', () => {
    for (const name of ['reversing', 'returning', 'refunding'] as const)
      expect(nextAction(inState(name), { state: deleted }, now)).toEqual(
        nextAction(inState(name), { state: unready }, now),
      );
  });

  test('has an operation ID that leads back to the binding', () => {
    for (const operation of ['charge', 'reverse', 'refund'] as const) {
      const id = bindingOperationId(inState('authorising'), operation);
      expect(id).toBe(`C.B.${operation}`);
      expect(bindingOfOperation(id)).toEqual(['C', 'B']);
    }
    for (const id of ['I.1.a', 'I.1.r', 'I.1.100', 'charge', 'C.B', '..charge', ''])
      expect(bindingOfOperation(id)).toBeUndefined();
  });
});

test('a rerouted binding continues at the other terminal', () => {
  const rerouted = evolveBinding(inState('authorising'), facts.binding_rerouted);
  expect(rerouted).toMatchObject({ terminal: { id: 'T2', bankId: 'BANK2' }, state: { name: 'authorising' } });
});

describe('a bank response', () => {
  const meaning = (
    name: BindingStateName,
    answer: BankResponse,
    state: CustomerState = unready,
    when = now,
  ) => interpret(inState(name), { state }, answer, when);
  const inDay = laterBy(now, 24 * hour);

  test.each(['authorising', 'challenged'] as const)(
    'decides the charge of a binding that is %s only if it proves an outcome',
    (name) => {
      expect(meaning(name, approved)).toEqual({ facts: [{ type: 'binding_charged', approval, returnBy }] });
      expect(meaning(name, declined)).toEqual({ facts: [{ ...facts.binding_failed, bank: { code: '51' } }] });
      expect(meaning(name, pending)).toEqual({ again: laterBy(now, 15_000) });
      for (const answer of silence) expect(meaning(name, answer)).toHaveProperty('unknown');
    },
  );

  test('that needs the payer requests one interaction, for ten minutes', () => {
    const until = laterBy(now, 10 * minute);
    expect(meaning('authorising', payerNeeded)).toEqual({
      facts: [{ type: 'binding_interaction_requested', interaction, until }],
    });
    expect(meaning('challenged', payerNeeded)).toEqual({ again: laterBy(now, 15_000) });
  });

  test.each([
    ['authorising', ['timeout']],
    ['challenged', ['preauthorization_failed', 'three_ds_not_finished']],
  ] as const)('without proof reverses a binding that is %s once its time is up', (name, why) => {
    for (const answer of [...silence, pending, payerNeeded]) {
      expect(meaning(name, answer, unready, inDay)).toEqual({
        facts: [{ type: 'binding_reversal_started', failure: why, returnBy: laterBy(inDay, hour) }],
      });
    }
    expect(meaning(name, approved, unready, inDay)).toMatchObject({ facts: [{ type: 'binding_charged' }] });
    expect(meaning(name, declined, unready, inDay)).toMatchObject({ facts: [{ type: 'binding_failed' }] });
  });

  test('that confirms a reversal fails the binding with the stored failure', () => {
    for (const code of ['21', '25', '79'])
      expect(meaning('reversing', { ...declined, code } as BankResponse)).toEqual({
        unknown: `the bank declined with code ${code}`,
      });
    expect(meaning('reversing', approved)).toEqual({ facts: [facts.binding_failed] });
    for (const answer of [...silence, declined, payerNeeded])
      expect(meaning('reversing', answer)).toHaveProperty('unknown');
    expect(meaning('reversing', pending)).toEqual({ again: laterBy(now, 15_000) });
  });

  test.each(['returning', 'refunding'] as const)(
    'binds the card only when it confirms the refund (%s)',
    (name) => {
      const bound = (...more: CustomerFact[]) => ({ facts: [succeeded, ...more] });
      expect(meaning(name, approved)).toEqual(bound({ type: 'customer_ready', bindingId: 'B' }));
      expect(meaning(name, approved, ready)).toEqual(
        bound({ type: 'active_binding_changed', bindingId: 'B' }),
      );
      expect(meaning(name, approved, deleted)).toEqual({
        facts: [{ type: 'binding_failed', failure: ['customer_deleted'] }],
      });
      for (const answer of [...silence, payerNeeded]) expect(meaning(name, answer)).toHaveProperty('unknown');
      expect(meaning(name, pending)).toEqual({ again: laterBy(now, 15_000) });
    },
  );

  test('that declines a reversal leads to a refund, and one that declines a refund proves nothing', () => {
    expect(meaning('returning', declined)).toEqual({
      facts: [{ type: 'binding_refund_started', why: '51' }],
    });
    expect(meaning('refunding', declined)).toHaveProperty('unknown');
  });

  test('changes nothing in a final state', () => {
    for (const name of ['succeeded', 'withdrawn', 'failed'] as const)
      for (const answer of [approved, declined, payerNeeded, pending, ...silence])
        expect(meaning(name, answer)).toEqual({ facts: [] });
  });
});

describe('revoking a binding', () => {
  const revoke = (name: BindingStateName, state: CustomerState, boundBefore?: string) =>
    decideRevoke({ state }, inState(name), boundBefore, now);
  const active: CustomerState = { name: 'ready', activeBindingId: 'B' };

  test('activates the binding before it, or makes the customer unready if it was the last', () => {
    expect(revoke('succeeded', active, 'BEFORE')).toEqual({
      ok: true,
      value: [facts.binding_withdrawn, { type: 'active_binding_changed', bindingId: 'BEFORE' }],
    });
    expect(revoke('succeeded', active)).toEqual({
      ok: true,
      value: [facts.binding_withdrawn, { type: 'customer_unready' }],
    });
  });
  test('changes nothing for the customer if another binding is active', () => {
    expect(revoke('succeeded', ready, 'OTHER')).toEqual({ ok: true, value: [facts.binding_withdrawn] });
  });
  test('changes nothing when repeated, and is refused unless the binding has succeeded', () => {
    expect(revoke('withdrawn', unready)).toEqual({ ok: true, value: [] });
    for (const name of states.filter((state) => !['succeeded', 'withdrawn'].includes(state)))
      expect(revoke(name, unready)).toEqual({ ok: false, refusal: { code: 'invalidBindingStatus' } });
  });
});

describe('resolving a binding', () => {
  test.each([
    ['reversing', failure],
    ['returning', ['return_unconfirmed']],
    ['refunding', ['return_unconfirmed']],
  ] as const)('fails a binding that is %s', (name, why) => {
    expect(decideClose(inState(name), 'paid back in cash')).toEqual({
      ok: true,
      value: { type: 'binding_failed', failure: why, reason: 'paid back in cash' },
    });
  });
  test('is refused in every other state', () => {
    for (const name of ['authorising', 'challenged', 'succeeded', 'withdrawn', 'failed'] as const)
      expect(decideClose(inState(name), 'x')).toMatchObject({ ok: false });
  });
});

describe('the journal of a binding', () => {
  const phases = (name: BindingStateName, ...written: (BindingFact | CustomerFact)[]) =>
    journalOf(inState(name), written)?.entries.map(({ phase, step }) => `${phase} ${step}`);

  test('has the refund pending from the charge until it is confirmed or resolved', () => {
    expect(phases('authorising', charged)).toEqual(['single charge', 'pending return']);
    expect(phases('challenged', charged)).toEqual(['single charge', 'pending return']);
    for (const name of ['returning', 'refunding'] as const) {
      expect(phases(name, succeeded, { type: 'customer_ready', bindingId: 'B' })).toEqual(['post return']);
      expect(phases(name, facts.binding_failed)).toEqual(['post return']);
    }
  });
  test('is empty for a charge that was never proved', () => {
    for (const name of ['authorising', 'challenged', 'reversing'] as const)
      expect(phases(name, facts.binding_failed)).toBeUndefined();
    expect(phases('authorising', facts.binding_reversal_started)).toBeUndefined();
    expect(phases('returning', facts.binding_refund_started)).toBeUndefined();
    expect(phases('succeeded', facts.binding_withdrawn)).toBeUndefined();
  });
});

test('every fact is read back from the log unchanged', () => {
  const { state: _, bindingsMade: _made, ...terms } = customer;
  const logged: CustomerLogFact[] = [
    ...Object.values(facts).map((fact) => ({ ...fact, bindingId: 'B' })),
    { type: 'customer_created', terms },
    { type: 'customer_ready', bindingId: 'B' },
    { type: 'active_binding_changed', bindingId: 'B' },
    { type: 'customer_unready' },
    { type: 'customer_deleted' },
  ];
  for (const fact of logged) {
    const stored: unknown = JSON.parse(JSON.stringify(written(customerLogFact, fact)));
    expect(customerLogFact.read(stored)).toEqual(fact);
  }
});

test('a logged fact without a bindingId or with a missing member is rejected', () => {
  const logged = written(customerLogFact, { ...started, bindingId: 'B' }) as { readonly terms: object };
  expect(() => customerLogFact.read({ ...logged, bindingId: undefined })).toThrow(
    'at .bindingId should be string',
  );
  const withoutMode = { ...logged, terms: { ...logged.terms, realm: undefined } };
  expect(() => customerLogFact.read(withoutMode)).toThrow('at .terms.realm should be one of');
});

function at(text: string): Instant {
  const instant = parseInstant(text);
  if (instant === undefined) throw new Error(`${text} is not an instant`);
  return instant;
}

test('a binding has the expected members in each state', () => {
  const expected: Record<BindingStateName, object> = {
    authorising: {},
    challenged: { interaction, until: laterBy(now, minute) },
    reversing: { failure, returnBy },
    returning: { approval, returnBy },
    refunding: { approval, returnBy },
    succeeded: { approval },
    withdrawn: { approval, at: now },
    failed: { failure },
  };
  for (const name of states) expect(inState(name).state).toStrictEqual({ name, ...expected[name] });
});
