// The simulated bank: cards, amounts, holds, refunds, charges without the payer, payouts.
// The conformance checks cover the protocol itself.
import { readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lettered, specialAmounts } from '../../src/sandbox/bank/special-amounts.ts';
import { testCards } from '../../src/sandbox/bank/test-cards.ts';
import { faultKinds } from '../../src/sandbox/bank/faults.ts';
import {
  authorise,
  capture,
  outcomeOf,
  payout,
  refund,
  reverse,
  startBank,
  verify,
} from '../support/bank/simulated-bank.ts';
import { temporaryFolder } from '../support/database/test-cluster.ts';
import { testCards as cardsOfContract } from '../support/worlds/cards.ts';
import { defined } from '../../src/defined.ts';

const takingNoPayouts = '4000000000005704';

const dayMs = 24 * 3_600_000;

describe('a card decides', () => {
  const byPayer: Record<string, string> = {
    '4242424242424242': 'approved',
    '5555555555554444': 'approved',
    '586824160825533338': 'approved',
    '2201382000000013': 'approved',
    '4300000000000777': 'approved',
    '2222990905257051': 'approved',
    '2223577120017656': 'approved',
    '4012888888881881': 'payerNeeded',
    '5169147129584558': 'payerNeeded',
    '4556418324571052': 'payerNeeded',
    '4929172190150505': 'payerNeeded',
    '4556724110260093': 'payerNeeded',
    '4987654321098769': 'declined 3ds-failed',
    '5123456789012346': 'declined 3ds-failed',
    '4342561111111118': 'declined 3ds-not-finished',
    '5112000200000002': 'declined 3ds-not-finished',
    '4000000000000002': 'declined 51',
    '5100000000000412': 'declined 51',
    '4222222222222220': 'declined 56',
    '5100000000000511': 'declined 56',
    '4003830171874018': 'declined 82',
    '5496198584584769': 'declined N7',
    '4000000000000069': 'declined 54',
    '5105105105105100': 'declined 54',
    '4111110000000112': 'declined Z9',
    '5124990000000002': 'declined Z9',
    '5000000000000009': 'declined Z9',
    '2222405343248877': 'declined Z9',
    '2223007648726984': 'declined Z9',
    '4000000000005704': 'approved',
    '4000000000511008': 'approved',
    '4000000000519993': 'approved',
    '4000000000549990': 'approved',
    '4000000000919193': 'approved',
    '4000000000119992': 'approved',
    '4000000000003600': 'approved',
    '4111111111111111': 'declined 15',
    '6011000990139424': 'declined 15',
  };

  test('the outcome of a payment', async () => {
    const bank = await startBank();
    const outcomes: Record<string, string> = {};
    for (const number of Object.keys(byPayer))
      outcomes[number] = await bank.outcome(number, authorise({}, number));
    expect(outcomes).toEqual(byPayer);
  });

  test('the outcome of a payout, which is approved for an unknown card', async () => {
    const bank = await startBank();
    for (const [number, outcome] of Object.entries(byPayer)) {
      const isPaid = !/^declined ([^31]|1[^5])/.test(outcome) || outcome === 'declined 15';
      const ofPayout = number === takingNoPayouts ? 'declined 57' : isPaid ? 'approved' : outcome;
      expect(await bank.outcome(number, payout(2_500, number)), number).toBe(ofPayout);
      const ofCheck = number === takingNoPayouts ? 'declined 57' : 'approved';
      expect(await bank.outcome(`${number}.v`, verify(number)), number).toBe(ofCheck);
    }
    expect((await bank.book()).some(({ kind }: { kind: string }) => kind === 'verify')).toBe(false);
  });

  test('nothing about authentication when none is requested', async () => {
    const bank = await startBank();
    for (const number of ['4012888888881881', '4987654321098769', '4342561111111118']) {
      const { body } = await bank.put(number, authorise({ authentication: 'none' }, number));
      expect(body).toMatchObject({ outcome: 'approved' });
      expect(body.eci).toBeUndefined();
    }
  });

  test('the ECI of its network for an authenticated payer', async () => {
    const bank = await startBank();
    const eci = async (number: string) => (await bank.put(number, authorise({}, number))).body.eci;
    expect(await eci('4242424242424242')).toBe('05');
    expect(await eci('5555555555554444')).toBe('02');
    expect(await eci('586824160825533338')).toBe('02');
  });

  test('for every test card of the API', () => {
    const known = new Set(testCards.map(({ number }) => number));
    expect(Object.keys(cardsOfContract).filter((number) => !known.has(number))).toEqual([]);
  });

  test('by its expiry, at the end of that month', async () => {
    const bank = await startBank(); // The clock of the bank is in January 2026.
    const expiring = (expiry: string) => authorise({ card: { number: '4242424242424242', expiry } });
    expect(await bank.outcome('1', expiring('2026-01'))).toBe('approved');
    expect(await bank.outcome('2', expiring('2025-12'))).toBe('declined 54');
    bank.clock.advance(13 * dayMs);
    expect(await bank.outcome('3', expiring('2026-01'))).toBe('declined 54');
  });
});

describe('an amount decides', () => {
  test.each([
    [99_051, 'declined 51'],
    [1_299_005, 'declined 05'],
    [99_000, 'approved'],
    [99_008, 'approved'],
    [99_085, 'approved'],
    [99_010, 'declined 10'],
    [99_100, 'approved'],
    [98_951, 'approved'],
    [99_101, 'declined 1A'],
    [99_110, 'declined R3'],
    [99_907, 'approved'],
    [99_908, 'declined 51'],
    [99_909, 'declined R1'],
    [99_910, 'declined 05'],
    [99_911, 'declined 65'],
    [99_912, 'declined 10'],
  ])('that %i is %s', async (amount, outcome) => {
    const bank = await startBank();
    expect(await bank.outcome('a', authorise({ amount }))).toBe(outcome);
    expect(await bank.outcome('p', payout(amount))).toBe(outcome);
    expect(
      await bank.outcome('b', authorise({ amount }, '4000000000000002')),
      'the card has precedence',
    ).toBe('declined 51');
  });

  test('which numeric code declines a charge', async () => {
    const bank = await startBank();
    for (let code = 0; code < 100; code++) {
      const text = String(code).padStart(2, '0');
      const isYes = ['00', '08', '11', '16', '85'].includes(text);
      const outcome = await bank.outcome(`op${code}`, authorise({ amount: 99_000 + code }));
      expect(outcome).toBe(isYes ? 'approved' : `declined ${text}`);
    }
  });

  test('which advice comes with a decline', async () => {
    const bank = await startBank();
    const advice = async (amount: number) =>
      (await bank.put(String(amount), authorise({ amount }))).body.advice;
    expect(await advice(99_907)).toBe('03');
    expect(await advice(99_908)).toBe('27');
    expect(await advice(99_910)).toBe('21');
    expect(await advice(6_000)).toBeUndefined();
  });

  test('captures and refunds too', async () => {
    const bank = await startBank();
    await bank.put('hold', authorise({ capture: false, amount: 500_000 }));
    expect(await bank.outcome('c1', capture('hold', 99_091))).toBe('declined 91');
    expect(await bank.outcome('c2', capture('hold', 99_914))).toBe('declined 25');
    expect(await bank.outcome('c3', capture('hold', 400_000))).toBe('approved');
    expect(await bank.outcome('r1', refund('hold', 99_005))).toBe('declined 05');
    expect(await bank.outcome('r2', refund('hold', 400_000)), 'the declined refund took nothing').toBe(
      'approved',
    );
  });

  test('that a charge is in the report twice', async () => {
    const bank = await startBank();
    await bank.put('a', authorise({ amount: 99_917 }));
    expect((await bank.book()).map(({ operationId }) => operationId)).toEqual(['a', 'a']);
  });

  test('that a payout is pending, and approved after two minutes', async () => {
    const bank = await startBank();
    await expect(bank.put('p', payout(99_915))).rejects.toThrow();
    expect((await bank.get('p')).body).toEqual({ operationId: 'p', outcome: 'pending' });
    expect(await bank.book()).toEqual([]);
    bank.clock.advance(119_999);
    expect(await bank.outcome('p', payout(99_915))).toBe('pending');
    bank.clock.advance(1);
    expect((await bank.get('p')).body.outcome).toBe('approved');
    expect(await bank.book()).toMatchObject([{ operationId: 'p', sign: -1, amount: 99_915 }]);
  });

  test('that a payout stays pending', async () => {
    const bank = await startBank();
    await expect(bank.put('p', payout(99_916))).rejects.toThrow();
    bank.clock.advance(30 * dayMs);
    expect((await bank.get('p')).body.outcome).toBe('pending');
    expect(await bank.book()).toEqual([]);
  });
});

describe('a hold', () => {
  test('that is captured in part releases the rest, so that only the captured amount can be refunded', async () => {
    const bank = await startBank();
    await bank.put('hold', authorise({ capture: false }));
    expect(await bank.outcome('c', capture('hold', 2_000))).toBe('approved');
    expect(await bank.outcome('c2', capture('hold', 1))).toBe('declined 12');
    expect(await bank.outcome('r', refund('hold', 2_001))).toBe('declined 13');
    expect(await bank.outcome('r2', refund('hold', 2_000))).toBe('approved');
    expect((await bank.book()).map(({ kind, sign, amount }) => [kind, sign, amount])).toEqual([
      ['authorise', 0, 6_000],
      ['capture', 1, 2_000],
      ['refund', -1, 2_000],
    ]);
  });

  test('expires after 7 days', async () => {
    const bank = await startBank();
    await bank.put('a', authorise({ capture: false }));
    await bank.put('b', authorise({ capture: false }));
    bank.clock.advance(7 * dayMs - 1);
    expect(await bank.outcome('ca', capture('a'))).toBe('approved');
    bank.clock.advance(1);
    expect(await bank.outcome('cb', capture('b'))).toBe('declined 12');
    expect(await bank.outcome('rb', reverse('b'))).toBe('approved');
  });

  test('is not captured in another currency, and not captured or reversed by another merchant', async () => {
    const bank = await startBank();
    await bank.put('hold', authorise({ capture: false }));
    const stranger = { merchant: { id: 'OTHER', terminal: 'T', descriptor: 'x' } };
    expect(await bank.outcome('c1', { ...capture('hold'), currency: 'USD' })).toBe('declined 13');
    expect(await bank.outcome('c2', { ...capture('hold'), ...stranger })).toBe('declined 25');
    expect(await bank.outcome('r1', { ...reverse('hold'), ...stranger })).toBe('declined 25');
    expect(await bank.outcome('c3', capture('hold'))).toBe('approved');
  });
});

test.each([
  ['a capture', capture('nothing'), 'declined 25'],
  ['a refund', refund('nothing'), 'declined 25'],
  ['a reversal', reverse('nothing'), 'approved'],
])('%s of an unknown operation is %s', async (_what, message, outcome) => {
  const bank = await startBank();
  expect(await bank.outcome('x', message)).toBe(outcome);
});

test('an operation reversed before it arrived is declined without a challenge', async () => {
  const bank = await startBank();
  await bank.put('r', reverse('late'));
  expect(await bank.outcome('late', authorise({}, '4012888888881881'))).toBe('declined 17');
  expect(await bank.book()).toEqual([]);
});

test('a payout and a capture cannot be reversed', async () => {
  const bank = await startBank();
  await bank.put('p', payout());
  await bank.put('h', authorise({ capture: false }));
  await bank.put('c', capture('h'));
  expect(await bank.outcome('r1', reverse('p'))).toBe('declined 12');
  expect(await bank.outcome('r2', reverse('c'))).toBe('declined 12');
});

describe('a charge without the payer', () => {
  const agreement = { initiation: { by: 'payer', storesCard: true } } as const;
  const later = (ids: { root?: string; previous?: string }, number?: string, amount = 6_000) =>
    authorise(
      {
        amount,
        initiation: {
          by: 'merchant',
          reason: 'unscheduled',
          ...defined({ rootNetworkTransactionId: ids.root, previousNetworkTransactionId: ids.previous }),
        },
        authentication: 'none',
      },
      number,
    );

  test('may follow any approved charge of its chain', async () => {
    const bank = await startBank();
    const root = (await bank.put('1', authorise(agreement))).body.networkTransactionId;
    const previous = (await bank.put('2', later({ root }))).body.networkTransactionId;
    expect(previous).not.toBe(root);
    expect(await bank.outcome('3', later({ root, previous }))).toBe('approved');
    expect(await bank.outcome('4', later({ previous }))).toBe('approved');
  });

  test('is declined 1A without proof of consent', async () => {
    const bank = await startBank();
    const root = (await bank.put('1', authorise(agreement))).body.networkTransactionId;
    const once = (await bank.put('2', authorise())).body.networkTransactionId;
    const others = (await bank.put('3', authorise(agreement, '5555555555554444'))).body.networkTransactionId;
    const { reason: _reason, ...without } = later({ root }).initiation;
    const unproved = [
      later({}),
      later({ root: 'made-up' }),
      later({ root: once }),
      later({ root: others }),
      later({ root, previous: others }),
      authorise({ initiation: without, authentication: 'none' }),
    ];
    for (const [n, message] of unproved.entries()) {
      expect(await bank.outcome(`x${n}`, message)).toBe('declined 1A');
    }
    expect(await bank.outcome('y', later({ root }))).toBe('approved');
  });

  test('never asks for the payer with any card, and follows the amounts', async () => {
    const bank = await startBank();
    const number = '4012888888881881';
    const root = (await bank.put('1', authorise({ ...agreement, authentication: 'none' }, number))).body
      .networkTransactionId;
    expect(await bank.outcome('2', later({ root }, number))).toBe('approved');
    expect(await bank.outcome('3', { ...later({ root }, number), authentication: 'required' })).toBe(
      'approved',
    );
    expect(await bank.outcome('4', later({ root }, number, 99_051))).toBe('declined 51');
  });

  describe('on a card that changes its mind', () => {
    const twice = '4000000000511008';

    test.each([
      [twice, ['declined 51', 'declined 51', 'approved', 'approved']],
      ['4000000000519993', ['declined 51', 'declined 51', 'declined 51', 'declined 51']],
      ['4000000000549990', ['declined 54', 'declined 54']],
      ['4000000000919193', ['declined R1', 'declined R1']],
      ['4000000000119992', ['declined 1A', 'declined 1A']],
    ])('%s: %j', async (number, outcomes) => {
      const bank = await startBank();
      const root = (await bank.put('1', authorise(agreement, number))).body.networkTransactionId;
      for (const [n, outcome] of outcomes.entries()) {
        expect(await bank.outcome(`c${n}`, later({ root }, number))).toBe(outcome);
        expect(await bank.outcome(`c${n}`, later({ root }, number)), 'a repeat is no further charge').toBe(
          outcome,
        );
      }
      expect(await bank.outcome('payer', authorise({}, number)), 'the payer can pay').toBe('approved');
    });

    test('is counted for each series, by whichever of its IDs it is named', async () => {
      const bank = await startBank();
      const one = (await bank.put('1', authorise(agreement, twice))).body.networkTransactionId;
      const other = (await bank.put('2', authorise(agreement, twice))).body.networkTransactionId;
      expect(await bank.outcome('a1', later({ root: one }, twice))).toBe('declined 51');
      expect(await bank.outcome('a2', later({ previous: one }, twice))).toBe('declined 51');
      const previous = (await bank.put('a3', later({ root: one }, twice))).body.networkTransactionId;
      expect(await bank.outcome('a4', later({ previous }, twice)), 'a charge has an ID of its own').toBe(
        'approved',
      );
      expect(await bank.outcome('b1', later({ root: other }, twice))).toBe('declined 51');
    });

    test('is counted on when the bank starts again', async () => {
      const { folder, remove } = temporaryFolder();
      onTestFinished(remove);
      const first = await startBank({ folder });
      const root = (await first.put('1', authorise(agreement, twice))).body.networkTransactionId;
      expect(await first.outcome('a1', later({ root }, twice))).toBe('declined 51');
      await first.stop();
      const second = await startBank({ folder });
      expect(await second.outcome('a2', later({ root }, twice))).toBe('declined 51');
      expect(await second.outcome('a3', later({ root }, twice))).toBe('approved');
    });

    test('is done and not answered for an hour of the bank', async () => {
      const { folder, remove } = temporaryFolder();
      onTestFinished(remove);
      const number = '4000000000003600';
      const first = await startBank({ folder });
      const root = (await first.put('1', authorise(agreement, number))).body.networkTransactionId;
      const silence = first.put('a', later({ root }, number)).catch(() => 'nothing');
      await expect.poll(async () => (await first.book()).length).toBe(2);
      await first.stop();
      expect(await silence).toBe('nothing');

      const second = await startBank({ folder });
      second.clock.advance(3_600_000 - 1);
      const inquiry = second.get('a').catch(() => 'nothing');
      const repeat = second.put('a', later({ root }, number)).catch(() => 'nothing');
      expect(await second.outcome('payer', authorise({}, number)), 'the payer is answered').toBe('approved');
      expect(await second.outcome('r', reverse('a')), 'and so is a reversal').toBe('approved');
      await second.stop();
      expect(await Promise.all([inquiry, repeat])).toEqual(['nothing', 'nothing']);

      const third = await startBank({ folder });
      third.clock.advance(3_600_000);
      expect((await third.get('a')).body.outcome).toBe('approved');
    });
  });

  test('may follow a challenged charge only after it was confirmed', async () => {
    const bank = await startBank();
    await bank.put('1', authorise(agreement, '4012888888881881'));
    expect(await bank.outcome('2', later({ root: '300000000000001' }, '4012888888881881'))).toBe(
      'declined 1A',
    );
  });
});

test('references and network transaction IDs are unique', async () => {
  const bank = await startBank();
  const bodies = await Promise.all(Array.from({ length: 50 }, (_, n) => bank.put(`op${n}`, authorise())));
  const references = bodies.map(({ body }) => body.reference);
  expect(new Set(references).size).toBe(50);
  expect(references.every((text) => /^\d{12}$/.test(text))).toBe(true);
  expect(new Set(bodies.map(({ body }) => body.networkTransactionId)).size).toBe(50);
  expect(outcomeOf(bodies[0]!.body)).toBe('approved');
});

describe('docs/simulated-bank.md', () => {
  const rows = readFileSync('docs/simulated-bank.md', 'utf8').split('\n');
  const row = (start: string) => rows.find((line) => line.startsWith(`| ${start}`));

  test('has every card with its outcomes', () => {
    for (const { number, network, declined, authentication, takesNoPayouts } of testCards) {
      const line = row(number);
      expect(line, number).toBeDefined();
      expect(line).toContain(`| ${network} `);
      if (declined !== undefined)
        expect(line).toMatch(new RegExp(`declined ${declined} \\(.*\\) +\\| declined ${declined}`));
      else if (authentication === 'fails') expect(line).toContain('declined 3ds-failed');
      else if (authentication === 'times out') expect(line).toContain('declined 3ds-not-finished');
      else if (authentication)
        expect(line).toContain(`after a challenge, by ${authentication.method}, ${authentication.dialect}`);
      else expect(line).toMatch(takesNoPayouts ? /\| approved +\| declined 57/ : /\| approved +\| approved/);
    }
    const changing = testCards.filter(({ withoutPayer }) => withoutPayer);
    expect(rows.filter((line) => /^\| \d{12,}/.test(line)).length).toBe(testCards.length + changing.length);
  });

  test('has the outcome of later charges of each card that changes its mind', () => {
    for (const { number, withoutPayer } of testCards) {
      if (!withoutPayer) continue;
      const line = rows.findLast((one) => one.startsWith(`| ${number}`));
      const outcome =
        'declined' in withoutPayer ? `declined ${withoutPayer.declined}` : 'not answered for an hour';
      expect(line).toContain(`${outcome}${'times' in withoutPayer ? ' twice' : ''}`);
    }
  });

  test('has every special amount and every fault', () => {
    for (const { ending, meaning } of specialAmounts) expect(row(String(ending)), meaning).toContain(meaning);
    expect(rows.filter((line) => /^\| 999\d\d/.test(line)).length).toBe(specialAmounts.length);
    const text = rows.join('\n');
    for (const [ending, code] of Object.entries(lettered)) expect(text).toContain(`${ending} → ${code}`);
    for (const kind of faultKinds) expect(text).toContain(`\`${kind}\``);
  });
});
