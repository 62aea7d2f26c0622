// mandate payout recover: payouts that the bank made and the database lost, recorded while the service runs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { epochMsOf } from '../../clock.ts';
import { storePayoutFee } from '../../payouts/store/payout-terms.ts';
import { setPayoutLimits } from '../../../test/support/worlds/payout-limits.ts';
import { brokenInvariants } from '../../../test/support/database/ledger.ts';
import { secret } from '../../../test/support/worlds/payment-world.ts';
import { startPayoutWorld, type PayoutWorld } from '../../../test/support/worlds/payout-world.ts';
import { commandLine } from '../../../test/support/processes/command-line.ts';
import { payout, bankClientAt } from '../../../test/support/bank/simulated-bank.ts';
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
const reason = ['--reason', 'Ann, from an email of the shop'];
const restore = (operationId: string, ...more: string[]) => {
  const usual = { '--wallet': world.wallet, '--destination': destination };
  const where = Object.entries(usual).filter(([option]) => !more.includes(option));
  return run('payout', 'recover', operationId, ...where.flat(), ...book, ...reason, ...more);
};

/** The bank pays, and the database does not know it; `write` changes the report. */
async function paidAtBank(id: string, amount: number, write = (text: string) => text): Promise<void> {
  const bank = bankClientAt(world.bank.url, secret, () => epochMsOf(world.service.clock.now()));
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
  'a lost payout is debited once with its fee, and is then equal in a reconciliation',
  { timeout: 120_000 },
  async () => {
    await paidAtBank('LOST1', 2_500);
    expect(await differences()).toEqual(['LOST1.p paidOut']);
    const before = await world.account();

    const written = await restore('LOST1.p');
    expect(written).toEqual({
      code: 0,
      errors: '',
      output: `Recorded withdrawal LOST1: 2500 RUB from wallet ${world.wallet}.\n`,
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
      reason: 'Ann, from an email of the shop',
    });

    const again = await restore('LOST1.p');
    expect(again).toMatchObject({
      code: 0,
      output: 'Withdrawal LOST1 is recorded already. Nothing was changed.\n',
    });
    expect(await world.account()).toEqual(after);
    expect(await differences()).toEqual([]);
    expect(await brokenInvariants(world.service.database)).toEqual([]);
    // It has no job: nothing is sent to the bank.
    await world.service.jobs.whenIdle();
    expect((await world.book()).filter(({ operationId }) => operationId.startsWith('LOST1'))).toHaveLength(1);
  },
);

test('a repeat with the externalID of a recovered payout pays nothing', { timeout: 120_000 }, async () => {
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
    `Another withdrawal of party ${world.merchant.partyId} has the external ID salary. Nothing was recorded.`,
  );
  expect(await factsOf('LOST3')).toEqual([]);
});

test(
  'a payout of another merchant by grant is recorded as theirs, and the grant is used up',
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
      `Pass the grant that party ${other.partyId} used with --wallet-grant`,
    );
    expect((await restore('LOST7.p', ...by, ...grant)).errors).toContain(
      `belongs to party ${merchant.partyId}. If that party requested the payout, pass --party ${merchant.partyId}`,
    );
    expect((await restore('LOST7.p', ...grant)).errors).toContain(
      'pass the merchant that used it with --party',
    );
    expect((await restore('LOST7.p', '--party', 'GONE')).errors).toContain('Party GONE not found');
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
    // With and without the externalID: the grant has been used.
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

test('a grant that is still valid is named, and can be revoked', { timeout: 120_000 }, async () => {
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
  // Whether it is passed as lost or not passed at all, it is named.
  const written = await restore('LOST11.p', ...by, '--wallet-grant', 'lost');
  expect(written.output).toContain(
    `These grants still allow as much from the wallet: ${grantId} (until 2035-`,
  );
  const again = await restore('LOST11.p', ...by, '--wallet-grant', token);
  expect(again.output).toContain('is recorded already. Nothing was changed. These grants');
  await paidAtBank('LOST12', 700);
  expect((await restore('LOST12.p')).output).toContain(grantId);
  const otherwise = await restore('LOST12.p', ...by, '--wallet-grant', token);
  expect(otherwise.errors).toContain('without an external ID. Nothing was recorded. These grants');
  // Nothing was recorded, so no grant is named.
  await paidAtBank('LOST13', 699);
  const refused = await restore('LOST13.p', ...by, '--wallet-grant', token, '--destination', 'GONE');
  expect(refused.errors).not.toContain('These grants');

  expect((await run('payout', 'revoke-grant', grantId)).output).toBe(`Revoked grant ${grantId}.\n`);
  expect((await run('payout', 'revoke-grant', grantId)).errors).toContain('not found, or already used');
  expect((await run('payout', 'revoke-grant', 'garbage')).errors).toContain('Grant garbage not found');
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

test('a payout recorded with other details is refused and stays', { timeout: 120_000 }, async () => {
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

test('a report without cards is accepted with a warning', { timeout: 120_000 }, async () => {
  await paidAtBank('LOST10', 200, (text) => text.replaceAll(/,"cardMask":"[^"]*"/g, ''));
  expect((await restore('LOST10.p')).output).toContain('The report of the bank has no card number');
  expect((await restore('LOST10.p')).output).toContain('is recorded already');
});

test('a wallet with too little money is not debited', { timeout: 120_000 }, async () => {
  const { own } = await world.account();
  await paidAtBank('LOST4', own - 19);
  const poor = await restore('LOST4.p');
  expect(poor.code).toBe(1);
  expect(poor.errors).toContain(`Wallet ${world.wallet} has less than ${own - 19} RUB and its fee of 20`);
  expect((await world.account()).own).toBe(own);
  expect(await factsOf('LOST4')).toEqual([]);
  await run('wallet', 'deposit', world.wallet, '--amount', '1', '--from-bank', 'NOSTRO', '--reference', '1');
  expect(await restore('LOST4.p')).toMatchObject({ code: 0 });
  expect(await world.account()).toEqual({ own: 0, available: 0 });
  expect(await brokenInvariants(world.service.database)).toEqual([]);
  await run(
    'wallet',
    'deposit',
    world.wallet,
    '--amount',
    '100000',
    '--from-bank',
    'NOSTRO',
    '--reference',
    '2',
  );
});

test.each<[string, string, string[], string, ((text: string) => string)?]>([
  ['an operation the bank does not know', 'NEVER.p', [], "NEVER.p is not in the bank's report"],
  ['a payment', 'INVOICE.1.a', [], 'INVOICE.1.a is not a payout'],
  ['an unknown wallet', 'LOST5.p', ['--wallet', 'GONE'], 'Wallet GONE not found. If the restore lost it'],
  ['an unknown destination', 'LOST5.p', ['--destination', 'GONE'], 'Destination GONE not found. If'],
  ['another currency', 'LOST5.p', [], 'has paid out 800 EUR', (text) => text.replaceAll('RUB', 'EUR')],
  ['booked as something else', 'LOST5.p', [], 'as refund', (text) => text.replaceAll('"payout"', '"refund"')],
  ['booked twice', 'LOST5.p', [], 'has booked LOST5.p 2 times', bookedTwice],
])('is not recorded: %s', { timeout: 120_000 }, async (_, operationId, more, problem, write) => {
  await paidAtBank('LOST5', 800, write);
  const refused = await restore(operationId, ...more);
  expect(refused.errors).toContain(problem);
  expect(refused).toMatchObject({ code: 1, output: '' });
  expect(await factsOf('LOST5')).toEqual([]);
});

test('is not recorded for another card than the report has', { timeout: 120_000 }, async () => {
  await paidAtBank('LOST5', 800);
  const { id: other } = await world.destinationFor(otherCardNumber);
  const refused = await restore('LOST5.p', '--destination', other);
  expect(refused.errors).toContain(
    `to 424242******4242, but destination ${other} is the card 555555******4444`,
  );
  expect(await factsOf('LOST5')).toEqual([]);
});

test('is not recorded while the withdrawal is in progress', { timeout: 120_000 }, async () => {
  world.bank.faults.order({ kind: 'reset-after-booking', next: 1, operationKind: 'payout' });
  const { id } = (await world.withdraw(600, destination)).body;
  await world.service.jobs.whenIdle();
  writeFileSync(bookFile, JSON.stringify({ entries: await world.book() }));
  const refused = await restore(`${id}.p`);
  expect(refused.errors).toContain(
    `Withdrawal ${id} exists and is pending: a node is asking the bank about it`,
  );
});

test('ignores a limit, and counts towards it', { timeout: 120_000 }, async () => {
  await setPayoutLimits(world.service, world.merchant.partyId, { perDayMinor: 1_000n });
  await paidAtBank('LOST6', 1_500);
  expect(await restore('LOST6.p')).toMatchObject({ code: 0 });
  expect((await world.withdraw(100, destination)).body.code).toBe('payoutLimitPerDay');
});
