import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Currency } from '../../../money.ts';
import {
  acquirerUncleared,
  balanceOf,
  bindingClearing,
  feeIncome,
  settlementAccount,
  walletAccount,
} from './account.ts';

const kind = { livemode: true, currency: 'RUB' as Currency } as const;

test('an account ID begins with mode and currency and names every part', () => {
  expect(settlementAccount({ ...kind, partyId: 'P', shopId: 'TEST' }).id).toBe(
    'live:RUB:merchant.settlement:P:TEST',
  );
  expect(acquirerUncleared({ ...kind, acquirerId: 'alfa' }).id).toBe('live:RUB:acq.uncleared:alfa');
  expect(bindingClearing(kind).id).toBe('live:RUB:binding.clearing');
  expect(feeIncome({ ...kind, fee: 'payout' }).id).toBe('live:RUB:fee.income:payout');
});

test('two shops never share an account, whatever characters their IDs have', () => {
  const part = fc.string({ unit: fc.constantFrom(':', '%', '3', 'A', '2', '5'), minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(part, part, part, part, (partyA, shopA, partyB, shopB) => {
      fc.pre(partyA !== partyB || shopA !== shopB);
      const a = settlementAccount({ ...kind, partyId: partyA, shopId: shopA });
      const b = settlementAccount({ ...kind, partyId: partyB, shopId: shopB });
      expect(a.id).not.toBe(b.id);
    }),
    { numRuns: 2_000 },
  );
});

test('the same owner has other accounts in another mode and in another currency', () => {
  const ids = [
    walletAccount({ ...kind, walletId: 'w' }),
    walletAccount({ ...kind, livemode: false, walletId: 'w' }),
    walletAccount({ ...kind, currency: 'USD' as Currency, walletId: 'w' }),
  ].map(({ id }) => id);
  expect(new Set(ids).size).toBe(3);
});

test('`available` subtracts pending outflows, and `most` adds pending inflows', () => {
  const sums = { debitsPosted: 30n, creditsPosted: 100n, debitsPending: 5n, creditsPending: 7n };
  expect(balanceOf('wallet.own', sums)).toEqual({ own: 70n, available: 65n, most: 77n });
  expect(balanceOf('bank.nostro', sums)).toEqual({ own: -70n, available: -77n, most: -65n });
});
