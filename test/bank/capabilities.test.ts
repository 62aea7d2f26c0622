// What the adapter learns of a bank: its abilities and its updates, from a bank of today and from one of the first version.
import { describe, expect, test } from 'vitest';
import { openHttpBank, type HttpBankOptions } from '../../src/acquiring/adapters/http/http-bank.ts';
import type { Exchange, OpenLink } from '../../src/acquiring/adapters/http/link.ts';
import { abilitiesOfVersion1 } from '../../src/acquiring/domain/abilities.ts';
import { updatesOf } from '../../src/acquiring/adapters/http/read-capabilities.ts';
import type { BankOperation } from '../../src/acquiring/domain/bank-port.ts';
import { defined } from '../../src/defined.ts';
import type { Currency } from '../../src/money.ts';
import { declineClassOf, effectsOf, packsInForce } from '../../src/retry-rules/domain/rule-packs.ts';
import type { SimulatedBankOptions } from '../../src/sandbox/bank/simulated-bank.ts';
import { openPatientLink } from '../support/bank/patient-link.ts';
import { bankSecret, startBank } from '../support/bank/simulated-bank.ts';

const terminal = { id: 'T1', bankId: 'B1', merchantId: 'M1', descriptor: 'SHOP' };

type Options = Partial<SimulatedBankOptions> &
  Pick<HttpBankOptions, 'lastSaid' | 'onSaid'> & {
    readonly isSilent?: true;
    /** The status of a proxy that answers in place of the bank. */
    readonly proxySays?: () => number | undefined;
  };

async function start({ lastSaid, onSaid, ...options }: Options = {}) {
  const bank = await startBank(options);
  const warnings: object[] = [];
  const statuses: unknown[] = [];
  const openNotedLink: OpenLink = (...parameters) => {
    const link = openPatientLink(...parameters);
    const ask: typeof link.ask = async (request) => {
      if (options.isSilent) return { kind: 'nothing', written: true, why: 'no answer' };
      const proxyStatus = options.proxySays?.();
      const exchange: Exchange = proxyStatus
        ? { kind: 'answer', status: proxyStatus, headers: {}, body: Buffer.from('<html>') }
        : await link.ask(request);
      statuses.push(exchange.kind === 'answer' && exchange.status);
      return exchange;
    };
    return { ...link, ask };
  };
  const adapter = openHttpBank({
    url: bank.url,
    secret: bankSecret,
    clock: bank.clock,
    log: { warn: (fields: object) => void warnings.push(fields) },
    openLink: openNotedLink,
    ...defined({ lastSaid, onSaid }),
    detokeniseCard: () => Promise.resolve({ number: '4242424242424242', expiry: '2049-12' }),
  });
  const send = (operationId: string, minor: bigint, more: object) =>
    adapter.send({
      operationId,
      terminal,
      kind: 'authorise',
      amount: { minor, currency: 'RUB' as Currency },
      card: { token: 't' },
      capture: false,
      initiation: { by: 'payer', storesCard: true },
      authentication: 'none',
      returnUrl: 'https://pay.example/return',
      payer: {},
      originalOperationId: 'a',
      ...more,
    } as BankOperation);
  return { bank, adapter, warnings, statuses, send };
}

test('a bank of the first version can do what it always could, and nothing more is sent to it', async () => {
  const { bank, adapter, send } = await start({ speaks: 'first version' });
  expect(await adapter.abilities()).toEqual(abilitiesOfVersion1);
  expect(await adapter.updates(7)).toEqual({ updates: [], unreadable: [], last: 7, hasMore: false });
  expect(await send('a', 6_000n, {})).toMatchObject({ outcome: 'approved' });
  // It would ignore the amount, and reverse the whole hold.
  expect(await send('r', 1_000n, { kind: 'reverse' })).toMatchObject({
    outcome: 'declined',
    code: 'not-supported',
    by: 'connector',
  });
  expect((await bank.get('r')).status).toBe(404);
});

test('a bank that was never heard is sent nothing more than one of the first version, and declines nothing', async () => {
  const { adapter, send } = await start({ isSilent: true });
  expect(await send('r', 1_000n, { kind: 'reverse' })).toMatchObject({
    outcome: 'notSent',
    noBytesSent: true,
  });
  expect(adapter.knownAbilities()).toBeUndefined();
});

test('abilities are read as declared, remembered, and read again after five minutes', async () => {
  const abilities = {
    kinds: ['authorise', 'borrow'],
    repeatable: 'P7D',
    refunds: 'mayFail',
    currencies: ['RUB'],
  };
  const { bank, adapter } = await start({ abilities: abilities as never });
  const read = { ...abilitiesOfVersion1, kinds: ['authorise'], currencies: ['RUB'], refunds: 'mayFail' };
  expect(await adapter.abilities()).toEqual({ ...read, repeatableMs: 7 * 24 * 3_600_000 });
  abilities.kinds = ['refund'];
  expect((await adapter.abilities()).kinds).toEqual(['authorise']);
  bank.clock.advance(5 * 60_000);
  expect((await adapter.abilities()).kinds).toEqual(['authorise']);
  await expect.poll(async () => (await adapter.abilities()).kinds).toEqual(['refund']);
});

test.each([0, 0.5, -1, 100_001, 1e9, 'ten'])('a limit of %s costs nothing but itself', async (limit) => {
  const { adapter, warnings } = await start({
    abilities: { kinds: ['authorise'], perSecond: limit, atOnce: 5 } as never,
  });
  expect(await adapter.abilities()).toEqual({ ...abilitiesOfVersion1, kinds: ['authorise'], atOnce: 5 });
  expect(JSON.stringify(warnings)).toContain('perSecond');
});

test('abilities stay known when a clock changes while they are read again', async () => {
  const { bank, adapter, statuses } = await start({ abilities: { kinds: ['authorise'] } as never });
  expect((await adapter.abilities()).kinds).toEqual(['authorise']);
  bank.clock.advance(5 * 60_000);
  const known = adapter.abilities();
  // Before the bank reads the request, its signature is too old.
  bank.clock.advance(6 * 60_000);
  await known;
  await expect.poll(() => statuses).toEqual([200, 401]);
  expect((await adapter.abilities()).kinds).toEqual(['authorise']);
});

test('a signature that a bank refuses says nothing of a bank never heard before', async () => {
  const { bank, adapter, statuses } = await start({ abilities: { repeatable: 'P1D' } as never });
  const first = adapter.abilities();
  // Before the bank reads the request, its signature is too old.
  bank.clock.advance(6 * 60_000);
  expect((await first).repeatableMs).toBe(0);
  bank.clock.advance(10_000);
  expect((await adapter.abilities()).repeatableMs).toBe(24 * 3_600_000);
  expect(statuses).toEqual([401, 200]);
});

test.each([
  ['always', 'always'],
  ['P1W', 7 * 24 * 3_600],
  ['P1DT30M', 24 * 3_600 + 30 * 60],
  ['PT3600S', 3_600],
  ['PT24H30S', 24 * 3_600 + 30],
  // What cannot be read must not count as always.
  ['P1M', 0],
  ['P', 0],
  ['a week', 0],
  ['', 0],
] as const)('repeatable %s is read, and nothing is promised that was not', async (repeatable, seconds) => {
  const { adapter } = await start({ abilities: { repeatable } as never });
  const expected = seconds === 'always' ? 'always' : seconds * 1_000;
  expect((await adapter.abilities()).repeatableMs).toBe(expected);
});

test.each([
  [['visa', 'Elo'], ['visa']],
  [['Elo'], undefined],
])('of the networks %j the known ones %j count, and the others are logged once', async (networks, known) => {
  const abilities = { networks, kinds: ['authorise'] };
  const { bank, adapter, warnings } = await start({ abilities });
  expect((await adapter.abilities()).networks).toEqual(known);
  abilities.kinds = ['refund'];
  bank.clock.advance(5 * 60_000);
  await expect.poll(async () => (await adapter.abilities()).kinds).toEqual(['refund']);
  expect(warnings).toEqual([{ bank: new URL(bank.url).host, networks: ['Elo'] }]);
});

test('abilities that do not match the protocol are as if unheard, and are logged once', async () => {
  const { bank, adapter, warnings } = await start({ abilities: { kinds: 'all' } as never });
  for (let times = 0; times < 2; times++) {
    expect((await adapter.abilities()).repeatableMs).toBe(0);
    bank.clock.advance(10_000);
  }
  expect(adapter.knownAbilities()).toBeUndefined();
  expect(warnings).toEqual([{ bank: new URL(bank.url).host, status: 200 }]);
});

describe('an answer without abilities', () => {
  const forgetful = { repeatable: 'P1D' };
  const dayMs = 24 * 3_600_000;
  const all = [200, 302, 400, 401, 403, 404, 405, 429, 500, 501, 503];

  test.each(all)('of status %i leaves a bank what it has declared', async (status) => {
    const proxy: { status?: number } = {};
    const { bank, adapter, statuses } = await start({ abilities: forgetful, proxySays: () => proxy.status });
    expect((await adapter.abilities()).repeatableMs).toBe(dayMs);
    proxy.status = status;
    bank.clock.advance(5 * 60_000);
    await adapter.abilities();
    await expect.poll(() => statuses).toEqual([200, status]);
    // Only once the answer has been read, another question can follow.
    bank.clock.advance(5 * 60_000);
    await expect.poll(() => adapter.knownAbilities() && statuses).toEqual([200, status, status]);
    expect((await adapter.abilities()).repeatableMs).toBe(dayMs);
  });

  test.each(all)('of status %i leaves a bank what another node has heard', async (status) => {
    const lastSaid = JSON.stringify(forgetful);
    const { adapter } = await start({ lastSaid, proxySays: () => status });
    expect((await adapter.abilities()).repeatableMs).toBe(dayMs);
  });

  test.each(all)(
    'of status %i makes one that was never heard repeat only if it has no such path',
    async (status) => {
      const { adapter } = await start({ proxySays: () => status });
      const isOfVersion1 = [400, 404, 405, 501].includes(status);
      expect((await adapter.abilities()).repeatableMs).toBe(isOfVersion1 ? 'always' : 0);
    },
  );
});

describe('what a bank has said', () => {
  test('counts before it is stored, and stop waits until it is', async () => {
    const happened: string[] = [];
    let databaseAnswers = () => {};
    const database = new Promise<void>((resolve) => (databaseAnswers = resolve));
    const onSaid = () => database.then(() => happened.push('stored'));
    const { adapter } = await start({ abilities: { kinds: ['refund'] }, onSaid });
    expect((await adapter.abilities()).kinds).toEqual(['refund']);
    const stopped = adapter.stop().then(() => happened.push('stopped'));
    databaseAnswers();
    await stopped;
    expect(happened).toEqual(['stored', 'stopped']);
  });

  test('is not stored once the adapter has stopped', async () => {
    const stored: string[] = [];
    const onSaid = async (abilities: string) => void stored.push(abilities);
    const { adapter } = await start({ abilities: { kinds: ['refund'] }, onSaid });
    const heard = adapter.abilities();
    await adapter.stop();
    expect((await heard).kinds).toEqual(['refund']);
    expect(stored).toEqual([]);
  });

  test('counts also if it cannot be stored', async () => {
    const onSaid = () => Promise.reject(new Error('no database'));
    const { adapter } = await start({ abilities: { kinds: ['refund'] }, onSaid });
    expect((await adapter.abilities()).kinds).toEqual(['refund']);
    await adapter.stop();
  });
});

test.each([
  [99_943n, 'holdEnded', 'approved'],
  [99_942n, 'approvedLate', 'declined'],
  [99_944n, 'networkIds', 'approved'],
])('amount %i has the update %s two minutes later', async (minor, what, outcome) => {
  const { bank, adapter, send } = await start();
  expect(await send('a', minor, {})).toMatchObject({ outcome });
  expect((await adapter.updates(0)).updates).toEqual([]);
  bank.clock.advance(2 * 60_000);
  const { updates, last, hasMore } = await adapter.updates(0);
  expect(updates).toMatchObject([{ sequence: 1, operationId: 'a', what, amount: { minor } }]);
  expect({ last, hasMore }).toEqual({ last: 1, hasMore: false });
  expect(await adapter.inquire({ operationId: 'a', terminal })).toMatchObject({ outcome });
});

test('no hold of a one-step charge ends', async () => {
  const { bank, adapter, send } = await start();
  expect(await send('a', 99_943n, { capture: true })).toMatchObject({ outcome: 'approved' });
  bank.clock.advance(2 * 60_000);
  expect((await adapter.updates(0)).updates).toEqual([]);
});

test.each([99_943n, 99_944n])(
  'nothing is reported later about amount %i of a payer who was not authenticated',
  async (minor) => {
    const { bank, adapter, send } = await start();
    const challenge = { authentication: 'required', demandsChallenge: true };
    expect(await send('a', minor, challenge)).toMatchObject({ outcome: 'payerNeeded' });
    bank.clock.advance(3 * 60_000);
    expect((await adapter.updates(0)).updates).toEqual([]);
    bank.clock.advance(8 * 60_000);
    const declined = { outcome: 'declined', code: '3ds-not-finished' };
    expect(await adapter.inquire({ operationId: 'a', terminal })).toMatchObject(declined);
    expect((await adapter.updates(0)).updates).toEqual([]);
  },
);

test('a follow-up can fail two minutes after its approval', async () => {
  const { bank, adapter, send } = await start();
  await send('a', 300_000n, {});
  expect(await send('c', 199_940n, { kind: 'capture' })).toMatchObject({ outcome: 'approved' });
  expect(await send('f', 99_941n, { kind: 'refund' })).toMatchObject({ outcome: 'approved' });
  bank.clock.advance(2 * 60_000);
  const { updates } = await adapter.updates(0);
  expect(updates.map(({ operationId, what }) => [operationId, what])).toEqual([
    ['c', 'captureFailed'],
    ['f', 'refundFailed'],
  ]);
});

test('an update that cannot be read hides no other one, and none is read as another', () => {
  const at = '2026-11-24T09:00:00Z';
  const good = { operationId: 'i.1.c', what: 'captureFailed', at };
  const page = updatesOf(
    {
      updates: [
        { ...good, sequence: 8, what: 42 },
        { ...good, sequence: 9, amount: 100 },
        { ...good, sequence: 10, amount: 100, currency: 'ZZZ' },
        { ...good, sequence: 11, operationId: '../5', at: 'yesterday' },
        { ...good, what: 'captureFailed' },
        'captureFailed',
        { ...good, sequence: 13, what: 'moonRises' },
        { ...good, sequence: 12, code: 'not settled', references: { arn: '1' } },
      ],
    },
    7,
  );
  expect(page?.updates).toEqual([{ ...good, sequence: 12, at: '2026-11-24T09:00:00.000000Z' }]);
  const unknown = expect.stringMatching(/^[0-9a-f]{16}$/);
  expect(page?.unreadable).toEqual([
    { key: '8', operationId: 'i.1.c', why: 'what does not match the protocol' },
    { key: '9', operationId: 'i.1.c', why: 'its amount has no currency' },
    { key: '10', operationId: 'i.1.c', why: 'its amount has no currency' },
    { key: '11', why: 'operationId does not match the protocol' },
    { key: unknown, operationId: 'i.1.c', why: 'it does not match the protocol' },
    { key: unknown, why: 'it does not match the protocol' },
  ]);
  expect(page).toMatchObject({ last: 13, hasMore: false });
});

test('a page of updates without a way past it is the last one', () => {
  const page = updatesOf({ updates: Array.from({ length: 100 }, () => 'captureFailed') }, 7);
  expect(page).toMatchObject({ last: 7, hasMore: false });
  expect(updatesOf({ updates: 'none' }, 7)).toBeUndefined();
});

test('a word of the acquirer has the class that the bank tells, and no rule of a network', async () => {
  const { send } = await start();
  const answer = await send('a', 99_930n, {});
  if (answer.outcome !== 'declined') throw new Error('it was not declined');
  expect(answer).toMatchObject({ code: 'insufficient_funds', by: 'acquirer', class: 'funds' });
  const now = '2026-11-24T00:00:00.000000Z' as never;
  expect(declineClassOf(answer, now)).toBe('funds');
  const lookalike = { ...answer, code: '04', class: 'vague' } as const;
  expect(declineClassOf(lookalike, now)).toBe('vague');
  expect(effectsOf(lookalike, packsInForce('visa', now))).toEqual([]);
});
