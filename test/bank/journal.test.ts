// The simulated bank's journal: the same state after every start, an incomplete end removed, and damage refused.
// One process owns it at a time, and another takes over when that one dies.
import { appendFileSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openFileJournal } from '../../src/sandbox/bank/journal.ts';
import { openSimulatedBank } from '../../src/sandbox/bank/simulated-bank.ts';
import { openOperationProcessor } from '../../src/sandbox/bank/operation-processor.ts';
import { freePort, untilFree } from '../../tools/free-port.ts';
import {
  authorise,
  bankSecret,
  capture,
  payout,
  refund,
  reverse,
  startBank,
  type TestBank,
} from '../support/bank/simulated-bank.ts';
import { waitMs } from '../../tools/tests/waits.ts';
import { eventually } from '../support/processes/program.ts';
import { temporaryFolder } from '../support/database/test-cluster.ts';
import { testClock } from '../support/service/test-service.ts';

function temporaryPlace(): string {
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  return folder;
}

const bankFolder = () => join(temporaryPlace(), 'bank');

async function stopAndFreePort(bank: TestBank): Promise<void> {
  await bank.stop();
  await untilFree(Number(new URL(bank.url).port));
}

test('a repeat may name another end of what the payer agrees to, which follows a time zone', async () => {
  const bank = await startBank({ folder: bankFolder(), clock: testClock() });
  const ending = (until: string, amount: 'fixed' | 'variable' = 'fixed') =>
    authorise({ initiation: { by: 'payer', storesCard: true, stores: { for: 'recurring', amount, until } } });
  const first = await bank.put('stores', ending('2027-01-01T20:59:59Z'));
  expect(await bank.put('stores', ending('2027-01-01T23:59:59Z'))).toEqual(first);
  expect(await bank.put('stores', ending('2027-01-01T20:59:59Z', 'variable'))).toMatchObject({ status: 409 });
});

test('a restarted bank repeats its responses and has the same report', async () => {
  const folder = bankFolder();
  const clock = testClock();
  const first = await startBank({ folder, clock, port: await freePort() });
  const agreement = { initiation: { by: 'payer', storesCard: true } } as const;
  const root = (await first.put('root', authorise(agreement))).body.networkTransactionId;
  await first.put('hold', authorise({ capture: false }));
  await first.put('capture', capture('hold', 2_000));
  await first.put('refund', refund('hold', 500));
  await first.put('declined', authorise({}, '4000000000000002'));
  await first.put('unseen', reverse('late'));
  await first.put('challenge', authorise({}, '4012888888881881'));
  await first.put('payout', payout());
  await expect(first.put('slow', payout(99_915))).rejects.toThrow();
  const ids = ['root', 'hold', 'capture', 'refund', 'declined', 'unseen', 'challenge', 'payout', 'slow'];
  const before = await Promise.all(ids.map((id) => first.get(id)));
  const book = await first.book();
  await stopAndFreePort(first);

  const second = await startBank({ folder, clock });
  expect(second.url, 'the port is the same, so that open challenges keep their page').toBe(first.url);
  expect(await Promise.all(ids.map((id) => second.get(id)))).toEqual(before);
  expect(await second.book()).toEqual(book);
  // The bank continues where it stopped.
  const later = authorise({
    initiation: { by: 'merchant', reason: 'recurring', rootNetworkTransactionId: root },
    authentication: 'none',
  });
  expect(await second.outcome('later', later)).toBe('approved');
  expect(await second.outcome('late', authorise())).toBe('declined 17');
  expect(await second.outcome('r2', refund('hold', 1_501))).toBe('declined 13');
  expect(await second.outcome('root', authorise(agreement))).toBe('approved');
  clock.advance(600_000);
  expect((await second.get('challenge')).body.code).toBe('3ds-not-finished');
  expect((await second.get('slow')).body.outcome).toBe('approved');
  const references = await Promise.all(
    ['root', 'hold', 'later', 'capture'].map(async (id) => (await second.get(id)).body.reference),
  );
  expect(new Set(references).size).toBe(4);
});

test('its files contain no card number and no security code, and only their owner can read them', async () => {
  const folder = bankFolder();
  const bank = await startBank({ folder });
  const card = { number: '4242424242424242', expiry: '2030-12', holder: 'LEXA SVOTIN', securityCode: '987' };
  await bank.put('a', authorise({ card, payer: { email: 'payer@example.com' } }));
  await bank.put('p', payout());
  await bank.stop();
  const files = readdirSync(folder);
  expect(files.sort()).toEqual(['journal', 'key', 'port']);
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8');
    for (const secret of [card.number, '"987"', card.holder, 'payer@example.com'])
      expect(text).not.toContain(secret);
    if (file !== 'port') expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  }
});

describe('a journal', () => {
  async function written(count: number): Promise<string> {
    const folder = bankFolder();
    const bank = await startBank({ folder });
    for (let n = 0; n < count; n++) await bank.put(`op${n}`, authorise());
    await bank.stop();
    return join(folder, 'journal');
  }

  test.each([
    ['half a line', (text: string) => text.slice(0, -20)],
    ['a line without a line end', (text: string) => text.slice(0, -1)],
    ['a line with a wrong character', (text: string) => text.slice(0, -30) + '?' + text.slice(-29)],
    ['zeros', (text: string) => text + '\0'.repeat(4_096)],
    ['a line that is not a fact', (text: string) => text + 'garbage\n'],
  ])('that ends in %s loses only that end', async (_what, tear) => {
    const file = await written(3);
    const text = readFileSync(file, 'utf8');
    const torn = tear(text);
    writeFileSync(file, torn);
    const { journal, facts } = await openFileJournal(file);
    const whole = torn.length < text.length || torn.includes('?') ? 2 : 3;
    expect(facts.length).toBe(whole);
    await journal.append(facts[0]!);
    await journal.close();
    const again = await openFileJournal(file);
    expect(again.facts.length).toBe(whole + 1);
    await again.journal.close();
  });

  test('that is damaged in the middle is refused', async () => {
    const file = await written(3);
    const [first, ...rest] = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, [first!.slice(0, -3), ...rest].join('\n'));
    await expect(openFileJournal(file)).rejects.toThrow(/damaged at byte 0/);
    const log = { warn: () => {} };
    const options = { clock: testClock(), secret: bankSecret, log, folder: file.replace(/\/journal$/, '') };
    await expect(openSimulatedBank(options)).rejects.toThrow(/damaged/);
  });

  test('keeps the order of parallel appends', async () => {
    const file = await written(1);
    const { journal, facts } = await openFileJournal(file);
    const fact = facts[0]!;
    if (fact.type !== 'received') throw new Error(`unexpected fact ${fact.type}`);
    const named = (n: number) => ({ ...fact, operation: { ...fact.operation, operationId: `n${n}` } });
    await Promise.all(Array.from({ length: 500 }, (_, n) => journal.append(named(n))));
    await journal.close();
    const again = await openFileJournal(file);
    const ids = again.facts.slice(1).map((one) => one.type === 'received' && one.operation.operationId);
    expect(ids).toEqual(Array.from({ length: 500 }, (_, n) => `n${n}`));
    await again.journal.close();
  });

  test('that cannot be written makes every request fail', async () => {
    const { journal, facts } = await openFileJournal(join(temporaryPlace(), 'journal'));
    await journal.close();
    const processor = openOperationProcessor({
      clock: testClock(),
      journal,
      facts,
      key: Buffer.alloc(32),
      holdMs: 1_000,
      interactionOf: () => ({ method: 'GET', url: 'https://x.example' }),
      onChanged: () => {},
    });
    await expect(processor.perform('b', { message: authorise() })).rejects.toThrow();
    await expect(processor.inquire('b')).rejects.toThrow();
    await expect(processor.entries(0, 10)).rejects.toThrow();
  });
});

describe('a folder', () => {
  test('belongs to one bank at a time; a second uses its address and takes over when the first stops', async () => {
    const folder = bankFolder();
    const clock = testClock();
    // The second waits for this port, so no outgoing connection may take it.
    const first = await startBank({ folder, clock, port: await freePort() });
    const second = await startBank({ folder, clock });
    expect([first.isOurs(), second.isOurs()]).toEqual([true, false]);
    expect(second.url).toBe(first.url);
    await first.put('a', authorise());
    await first.stop();
    await eventually(async () => second.isOurs() || undefined, waitMs, 'the second has taken over');
    expect((await second.get('a')).body.outcome).toBe('approved');
    expect(await second.outcome('b', authorise())).toBe('approved');
    expect((await second.book()).map(({ operationId }) => operationId)).toEqual(['a', 'b']);
  });

  test('belongs to one of many banks that start in parallel', async () => {
    const folder = bankFolder();
    const banks = await Promise.all(Array.from({ length: 5 }, () => startBank({ folder })));
    expect(banks.filter((bank) => bank.isOurs()).length).toBe(1);
    expect(new Set(banks.map(({ url }) => url)).size).toBe(1);
  });

  test('gets another port when another program has its port', async () => {
    const folder = bankFolder();
    const first = await startBank({ folder, port: await freePort() });
    await first.put('a', authorise());
    await stopAndFreePort(first);
    const stranger = await startBank({ port: Number(new URL(first.url).port) });
    const second = await startBank({ folder });
    expect(second.isOurs()).toBe(true);
    expect(second.url).not.toBe(stranger.url);
    expect((await second.get('a')).body.outcome).toBe('approved');
  });

  test('is opened on a requested port if it is free', async () => {
    const folder = bankFolder();
    const first = await startBank({ folder });
    const other = await startBank({});
    const port = Number(new URL(other.url).port);
    expect((await startBank({ folder, port })).url, 'the bank is already open').toBe(first.url);
    await first.stop();
    const log = { warn: () => {} };
    const taken = openSimulatedBank({
      clock: testClock(),
      secret: bankSecret,
      log,
      folder: bankFolder(),
      port,
    });
    await expect(taken).rejects.toThrow(`Port ${port} is in use`);
  });

  test('with a damaged port file is refused', async () => {
    const folder = bankFolder();
    await (await startBank({ folder })).stop();
    appendFileSync(join(folder, 'port'), 'x');
    const log = { warn: () => {} };
    await expect(openSimulatedBank({ clock: testClock(), secret: bankSecret, log, folder })).rejects.toThrow(
      /Remove the file/,
    );
  });
});
