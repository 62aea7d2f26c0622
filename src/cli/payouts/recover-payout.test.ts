// Payouts the bank has made and this database does not know, written down through the real program beside a service that runs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { epochMsOf } from '../../clock.ts';
import { storePayoutFee, storePayoutLimits } from '../../payouts/store/payout-terms.ts';
import { brokenInvariants } from '../../../test/support/database/ledger.ts';
import { secret } from '../../../test/support/worlds/payment-world.ts';
import { startPayoutWorld, type PayoutWorld } from '../../../test/support/worlds/payout-world.ts';
import { commandLine } from '../../../test/support/processes/command-line.ts';
import { payout, tellerAt } from '../../../test/support/bank/simulated-bank.ts';
import { temporaryFolder } from '../../../test/support/database/test-cluster.ts';

const cardNumber = '4242424242424242';
const otherCardNumber = '5555555555554444';
const { folder, remove } = temporaryFolder();
const bookFile = join(folder, 'book.json');

let world: PayoutWorld;
let destination: string;
beforeAll(async () => {
  world = await startPayoutWorld();
  ({ id: destination } = await world.destinationFor(cardNumber));
  await storePayoutFee(world.service.database, world.merchant.partyId, 'RUB', {
    basisPoints: 0n,
    fixedMinor: 20n,
  });
  world.service.payouts.forget(world.merchant.partyId);
}, 120_000);
afterAll(async () => {
  await world.close();
  await remove();
});

const run = (...args: string[]) =>
  commandLine(args, {
    DATABASE_URL: world.service.testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  });

const book = ['--bank', bookFile, '--bank-id', 'BANK'];
const reason = ['--reason', 'Ann, from the letter of the shop'];
const restore = (operationId: string, ...more: string[]) => {
  const where = ['--wallet', world.wallet, '--destination', destination];
  return run('payout', 'recover', operationId, ...where, ...book, ...reason, ...more);
};

/** The bank pays, and nobody here knows; `write` is of its book. */
async function paidAtBank(id: string, amount: number, write = (text: string) => text): Promise<void> {
  const bank = tellerAt(world.bank.url, secret, () => epochMsOf(world.service.clock.now()));
  expect(await bank.outcome(`${id}.p`, payout(amount, cardNumber))).toBe('approved');
  writeFileSync(bookFile, write(JSON.stringify({ entries: await bank.book() })));
}

function bookedTwice(text: string): string {
  const { entries } = JSON.parse(text) as { entries: { sequence: number }[] };
  const last = entries.at(-1)!;
  return JSON.stringify({ entries: [...entries, { ...last, sequence: last.sequence + 1 }] });
}

const differences = async () => {
  const { output } = await run('reconcile', ...book, '--restored-to', '2020-01-01', '--json');
  return (JSON.parse(output) as { differences: any[] }).differences.map(
    ({ operationId, sinceRestore }) => `${operationId} ${sinceRestore}`,
  );
};

async function factsOf(id: string): Promise<any[]> {
  const { rows } = await world.service.database.withClient((client) =>
    client.query<{ facts: any[] }>('select facts from event where aggregate_id = $1 order by sequence', [id]),
  );
  return rows.flatMap(({ facts }) => facts);
}

test(
  'is taken off the wallet with its fee, once, and is no difference any more',
  { timeout: 120_000 },
  async () => {
    await paidAtBank('LOST1', 2_500);
    expect(await differences()).toEqual(['LOST1.p paidOut']);
    const before = await world.account();

    const written = await restore('LOST1.p');
    expect(written).toEqual({
      code: 0,
      errors: '',
      output: `LOST1 is written down: 2500 RUB from wallet ${world.wallet}.\n`,
    });
    const after = { own: before.own - 2_520, available: before.available - 2_520 };
    expect(await world.account()).toEqual(after);
    expect((await world.get('/wallet/v0/withdrawals/LOST1')).body).toMatchObject({
      status: 'Succeeded',
      wallet: world.wallet,
      destination,
      body: { amount: 2_500, currency: 'RUB' },
      fee: { amount: 20, currency: 'RUB' },
    });
    const [started, succeeded] = await factsOf('LOST1');
    expect(started.type).toBe('withdrawal_started');
    expect(succeeded).toMatchObject({
      type: 'withdrawal_succeeded',
      reason: 'Ann, from the letter of the shop',
    });

    const again = await restore('LOST1.p');
    expect(again).toMatchObject({ code: 0, output: 'LOST1 is known already; nothing was done.\n' });
    expect(await world.account()).toEqual(after);
    expect(await differences()).toEqual([]);
    expect(await brokenInvariants(world.service.database)).toEqual([]);
    // Nothing is due of it: the bank is asked for nothing.
    await world.service.jobs.whenIdle();
    expect((await world.book()).filter(({ operationId }) => operationId.startsWith('LOST1'))).toHaveLength(1);
  },
);

test('the repeat of a merchant who had called it something pays nothing', { timeout: 120_000 }, async () => {
  await paidAtBank('LOST2', 700);
  expect(await restore('LOST2.p', '--external-id', 'salary')).toMatchObject({ code: 0 });
  const before = await world.account();
  const repeat = await world.withdraw(700, destination, { externalID: 'salary' });
  expect(repeat).toMatchObject({ status: 202, body: { id: 'LOST2', status: 'Succeeded' } });
  const other = await world.withdraw(700, destination, { externalID: 'salary', metadata: { of: 'May' } });
  expect(other).toMatchObject({ status: 409, body: { id: 'LOST2' } });
  expect(await world.account()).toEqual(before);

  await paidAtBank('LOST3', 700);
  const taken = await restore('LOST3.p', '--external-id', 'salary');
  expect(taken.errors).toContain(
    `Another withdrawal of party ${world.merchant.partyId} has the external ID salary. Nothing was done`,
  );
  expect(await factsOf('LOST3')).toEqual([]);
});

test(
  'one made by another with the owner’s grant is his, and the grant used up',
  { timeout: 120_000 },
  async () => {
    const { service, wallet, merchant } = world;
    const other = await service.createMerchant();
    const given = await world.post(`/wallet/v0/wallets/${wallet}/grants`, {
      asset: { amount: 1_000, currency: 'RUB' },
      validUntil: '2035-01-01T00:00:00Z',
    });
    const grant = ['--wallet-grant', given.body.token];
    await paidAtBank('LOST7', 900);
    const by = ['--party', other.partyId];

    expect((await restore('LOST7.p', ...by)).errors).toContain(
      `by which grant party ${other.partyId} paid out`,
    );
    expect((await restore('LOST7.p', ...by, ...grant)).errors).toContain(
      `belongs to party ${merchant.partyId}. If that party requested the payout, pass --party ${merchant.partyId}`,
    );
    expect((await restore('LOST7.p', ...grant)).errors).toContain('say with --party who had it');
    expect((await restore('LOST7.p', '--party', 'GONE')).errors).toContain('there is no party GONE');
    expect(await factsOf('LOST7')).toEqual([]);

    const all = [...by, ...grant, '--destination-party', merchant.partyId, '--external-id', 'bonus'];
    expect(await restore('LOST7.p', ...all)).toMatchObject({ code: 0, errors: '' });
    const [{ terms }] = await factsOf('LOST7');
    expect(terms).toMatchObject({ partyId: other.partyId, walletPartyId: merchant.partyId });

    const body = { wallet, destination, body: { amount: 900, currency: 'RUB' } };
    const repeat = (more: object) =>
      service.call('POST', '/wallet/v0/withdrawals', {
        token: other.apiKey,
        body: { ...body, walletGrant: given.body.token, ...more },
      });
    const there = await world.post(`/wallet/v0/destinations/${destination}/grants`, {
      validUntil: '2035-01-01T00:00:00Z',
    });
    const destinationGrant = there.body.token;
    // As what he called it, and without: the grant has paid already.
    expect(await repeat({ externalID: 'bonus', destinationGrant })).toMatchObject({
      status: 409,
      body: { id: 'LOST7' },
    });
    expect(await repeat({ destinationGrant })).toMatchObject({ status: 422, body: { code: 'noSuchWallet' } });
    expect((await world.book()).filter(({ operationId }) => operationId.startsWith('LOST7'))).toHaveLength(1);

    await paidAtBank('LOST8', 100);
    const used = ['--party', other.partyId, ...grant, '--destination-party', merchant.partyId];
    expect((await restore('LOST8.p', ...used)).errors).toContain('was already used or revoked');
    expect(await factsOf('LOST8')).toEqual([]);
  },
);

test('a grant that still holds is told of, and ended by hand', { timeout: 120_000 }, async () => {
  const { service, wallet } = world;
  const other = await service.createMerchant();
  const given = await world.post(`/wallet/v0/wallets/${wallet}/grants`, {
    asset: { amount: 700, currency: 'RUB' },
    validUntil: '2035-01-01T00:00:00Z',
  });
  const { token } = given.body;
  const [, grantId = ''] = token.split('.');
  await paidAtBank('LOST11', 700);
  const by = ['--party', other.partyId, '--destination-party', world.merchant.partyId];
  // Said to be lost, or not said at all: it is named, so that it can be ended.
  const written = await restore('LOST11.p', ...by, '--wallet-grant', 'lost');
  expect(written.output).toContain(`as much may still be paid out from the wallet: ${grantId} (until 2035-`);
  const again = await restore('LOST11.p', ...by, '--wallet-grant', token);
  expect(again.output).toContain('is known already; nothing was done. By these grants');
  await paidAtBank('LOST12', 700);
  expect((await restore('LOST12.p')).output).toContain(grantId);
  const otherwise = await restore('LOST12.p', ...by, '--wallet-grant', token);
  expect(otherwise.errors).toContain('without an external ID. Nothing was done. By these grants');
  // Nothing written, nothing to end.
  await paidAtBank('LOST13', 699);
  const refused = await restore('LOST13.p', ...by, '--wallet-grant', token, '--destination', 'GONE');
  expect(refused.errors).not.toContain('By these grants');

  expect((await run('payout', 'revoke-grant', grantId)).output).toBe(
    'Nothing can be paid out by it any more.\n',
  );
  expect((await run('payout', 'revoke-grant', grantId)).errors).toContain('or it was used already');
  expect((await run('payout', 'revoke-grant', 'garbage')).errors).toContain('there is no grant garbage');
  const { token: destinationGrant } = (
    await world.post(`/wallet/v0/destinations/${destination}/grants`, { validUntil: '2035-01-01T00:00:00Z' })
  ).body;
  const body = {
    wallet,
    destination,
    body: { amount: 700, currency: 'RUB' },
    walletGrant: token,
    destinationGrant,
  };
  const repeat = await service.call('POST', '/wallet/v0/withdrawals', { token: other.apiKey, body });
  expect(repeat).toMatchObject({ status: 422, body: { code: 'noSuchWallet' } });
});

test('what was written down otherwise stays so, and that is said', { timeout: 120_000 }, async () => {
  await paidAtBank('LOST9', 300);
  expect(await restore('LOST9.p')).toMatchObject({ code: 0 });
  const before = await world.account();
  const { wallet } = await world.openWallet(world.merchant);
  const { id: twin } = await world.destinationFor(cardNumber);
  for (const otherwise of [
    ['--external-id', 'wages'],
    ['--wallet', wallet],
    ['--destination', twin],
  ]) {
    const again = await restore('LOST9.p', ...otherwise);
    expect(again).toMatchObject({ code: 1, output: '' });
    expect(again.errors).toContain(`LOST9 exists already: of party ${world.merchant.partyId}, from wallet`);
  }
  expect(await world.account()).toEqual(before);
});

test('a book without cards is taken, and says so', { timeout: 120_000 }, async () => {
  await paidAtBank('LOST10', 200, (text) => text.replaceAll(/,"cardMask":"[^"]*"/g, ''));
  expect((await restore('LOST10.p')).output).toContain('The book names no card');
  expect((await restore('LOST10.p')).output).toContain('is known already');
});

test('a wallet that has not so much any more loses nothing', { timeout: 120_000 }, async () => {
  const { own } = await world.account();
  await paidAtBank('LOST4', own - 19);
  const poor = await restore('LOST4.p');
  expect(poor.code).toBe(1);
  expect(poor.errors).toContain(`Wallet ${world.wallet} has less than ${own - 19} RUB and its fee of 20`);
  expect((await world.account()).own).toBe(own);
  expect(await factsOf('LOST4')).toEqual([]);
  await run('wallet', 'deposit', world.wallet, '--amount', '1', '--from-bank', 'NOSTRO');
  expect(await restore('LOST4.p')).toMatchObject({ code: 0 });
  expect(await world.account()).toEqual({ own: 0, available: 0 });
  expect(await brokenInvariants(world.service.database)).toEqual([]);
  await run('wallet', 'deposit', world.wallet, '--amount', '100000', '--from-bank', 'NOSTRO');
});

test.each<[string, string, string[], string, ((text: string) => string)?]>([
  ['nobody was paid', 'NEVER.p', [], "NEVER.p is not in the bank's report"],
  ['a payment', 'INVOICE.1.a', [], 'INVOICE.1.a is not a payout'],
  ['a wallet that is not there', 'LOST5.p', ['--wallet', 'GONE'], 'there is no wallet GONE. If it was lost'],
  ['a card that is not there', 'LOST5.p', ['--destination', 'GONE'], 'there is no destination GONE. If'],
  ['another currency', 'LOST5.p', [], 'has paid out 800 EUR', (text) => text.replaceAll('RUB', 'EUR')],
  ['booked as something else', 'LOST5.p', [], 'as refund', (text) => text.replaceAll('"payout"', '"refund"')],
  ['booked twice', 'LOST5.p', [], 'has booked LOST5.p 2 times', bookedTwice],
])('is not written down: %s', { timeout: 120_000 }, async (_, operationId, more, problem, write) => {
  await paidAtBank('LOST5', 800, write);
  const refused = await restore(operationId, ...more);
  expect(refused.errors).toContain(problem);
  expect(refused).toMatchObject({ code: 1, output: '' });
  expect(await factsOf('LOST5')).toEqual([]);
});

test('is not written down with another card than the bank’s', { timeout: 120_000 }, async () => {
  await paidAtBank('LOST5', 800);
  const { id: other } = await world.destinationFor(otherCardNumber);
  const refused = await restore('LOST5.p', '--destination', other);
  expect(refused.errors).toContain(
    `to 424242******4242, but destination ${other} is the card 555555******4444`,
  );
  expect(await factsOf('LOST5')).toEqual([]);
});

test('is left alone while it is under way here', { timeout: 120_000 }, async () => {
  world.bank.faults.order({ kind: 'reset-after-booking', next: 1, operationKind: 'payout' });
  const { id } = (await world.withdraw(600, destination)).body;
  await world.service.jobs.whenIdle();
  writeFileSync(bookFile, JSON.stringify({ entries: await world.book() }));
  const refused = await restore(`${id}.p`);
  expect(refused.errors).toContain(
    `Withdrawal ${id} exists and is pending: a node is asking the bank about it`,
  );
});

test('is not held up by a limit, and counts towards it', { timeout: 120_000 }, async () => {
  await storePayoutLimits(world.service.database, world.merchant.partyId, {
    level: 'anonymous',
    currency: 'RUB',
    limits: { perDayMinor: 1_000n },
  });
  world.service.payouts.forget(world.merchant.partyId);
  await paidAtBank('LOST6', 1_500);
  expect(await restore('LOST6.p')).toMatchObject({ code: 0 });
  expect((await world.withdraw(100, destination)).body.code).toBe('payoutLimitPerDay');
});
