// mandate shop refunds, top-up and reverse-top-up: what refunds do when a shop's balance is too small, and money that came in for it.
import { createHash } from 'node:crypto';
import type { Foundation } from '../../app/composition/foundation.ts';
import { minorOf } from '../option-values.ts';
import { requireReason, requireShop, withFoundation } from '../foundation.ts';
import type { Shop, WhenShort } from '../../merchants/domain/party.ts';
import { setWhenShort, shopFromRow } from '../../merchants/store/parties.ts';
import { findTopUp, reverseTopUp as reverse, storeTopUp } from '../../merchants/store/top-ups.ts';
import { countWaitingRefunds, wakeFirstWaitingRefund } from '../../payments/store/waiting-refunds.ts';
import { settlementAccount } from '../../platform/ledger/domain/account.ts';
import { overdraftOf, readBalance, setOverdraft } from '../../platform/ledger/store/journals.ts';

type Options = {
  readonly party: string;
  readonly whenShort?: WhenShort;
  readonly overdraftLimit?: string;
  readonly json?: true;
};

/** Without a change it only prints. */
export async function shopRefunds(id: string, options: Options): Promise<void> {
  const shown = await withFoundation(async ({ database }) => {
    const shop = shopFromRow(await requireShop(database, options.party, id));
    const whenShort = (await changed(database, shop, options)) ?? shop.whenShort;
    const account = balanceOf(shop);
    return {
      whenShort,
      overdraftLimit: Number(await overdraftOf(database, account)),
      available: Number((await readBalance(database, account)).available),
      waiting: await countWaitingRefunds(database, { partyId: shop.partyId, shopId: id }),
      currency: shop.currency,
    };
  });
  if (options.json) return console.log(JSON.stringify(shown, null, 2));
  const { whenShort, overdraftLimit, available, waiting, currency } = shown;
  console.log(`when short:       ${whenShort}`);
  if (whenShort === 'overdraft') console.log(`overdraft limit:  ${overdraftLimit} ${currency}`);
  console.log(`available:        ${available} ${currency}`);
  console.log(`waiting refunds:  ${waiting}`);
}

/** The limit is zero unless the shop has an overdraft, so that one value says what refunds may take. */
async function changed(
  database: Foundation['database'],
  shop: Shop,
  { whenShort, overdraftLimit }: Options,
): Promise<WhenShort | undefined> {
  if (whenShort === undefined && overdraftLimit === undefined) return undefined;
  const wanted = whenShort ?? shop.whenShort;
  if ((wanted === 'overdraft') !== (overdraftLimit !== undefined)) {
    throw new Error(
      wanted === 'overdraft'
        ? 'An overdraft needs a limit. Give --overdraft-limit as well.'
        : `--overdraft-limit is for --when-short overdraft, and this shop has ${wanted}. Give both.`,
    );
  }
  const limit = overdraftLimit === undefined ? 0n : minorOf('--overdraft-limit', overdraftLimit);
  await database.transaction(async (tx) => {
    if (!(await setOverdraft(tx, balanceOf(shop), limit))) {
      const { available } = await readBalance(tx, balanceOf(shop));
      throw new Error(
        `Shop ${shop.id} owes ${-available} ${shop.currency}, which is more than a limit of ${limit}. Book what came in with "mandate shop top-up" first, or give a higher limit.`,
      );
    }
    await tx.run(setWhenShort, { party_id: shop.partyId, shop_id: shop.id, when_short: wanted });
  });
  return wanted;
}

export async function topUpShop(
  id: string,
  options: {
    readonly party: string;
    readonly amount: string;
    readonly fromBank: string;
    readonly reference: string;
  },
): Promise<void> {
  const { party: partyId, reference, fromBank: bankAccountId } = options;
  const minor = minorOf('--amount', options.amount);
  if (minor === 0n) throw new Error('--amount is 0. Book at least 1 minor unit.');
  // A script with an unset variable would pass two payments off as one.
  if (reference.trim() === '')
    throw new Error('--reference is empty. Give the bank\u2019s reference of the payment.');
  const made = await withFoundation(async ({ database, ports }) => {
    const { currency, livemode } = shopFromRow(await requireShop(database, partyId, id));
    const now = ports.clock.now();
    const topUp = {
      id: topUpIdOf(partyId, id, reference),
      partyId,
      shopId: id,
      reference,
      bankAccountId,
      amount: { minor, currency },
      createdAt: now,
    };
    const stored = await storeTopUp(database, topUp, livemode);
    if (stored.isNew) await wakeFirstWaitingRefund(database, { partyId, shopId: id }, now);
    return stored;
  });
  const { amount, createdAt, bankAccountId: account, reversedAt } = made.topUp;
  if (!made.isNew) {
    const earlier = `Reference ${reference} was booked at ${createdAt}: ${amount.minor} ${amount.currency} on ${account}`;
    if (amount.minor !== minor || account !== bankAccountId)
      throw new Error(`${earlier}. Yours is different, so no money was booked. Use another --reference.`);
    if (reversedAt !== undefined)
      throw new Error(
        `${earlier}, and reversed at ${reversedAt}. No money was booked. Use another --reference.`,
      );
    console.error(`${earlier}. It was not repeated.`);
  }
  console.log(made.topUp.id);
}

export async function reverseTopUp(id: string, { reason }: { readonly reason: string }): Promise<void> {
  requireReason(reason);
  const outcome = await withFoundation(async ({ database, ports }) => {
    const topUp = await findTopUp(database, id);
    if (!topUp) throw new Error(`Top-up ${id} not found. Use the ID that "mandate shop top-up" printed.`);
    const shop = shopFromRow(await requireShop(database, topUp.partyId, topUp.shopId));
    const { livemode } = shop;
    const done = await reverse(database, topUp, { livemode, reason, now: ports.clock.now() });
    if (done !== 'insufficient') return done;
    const { available } = await readBalance(database, balanceOf(shop));
    throw new Error(
      `Shop ${shop.id} has ${available} ${shop.currency}, less than the ${topUp.amount.minor} of top-up ${id}: some of it was used, so nothing was taken back. ` +
        'Have the merchant pay in what is missing.',
    );
  });
  console.log(outcome === 'reversed' ? `Reversed top-up ${id}.` : `Top-up ${id} was reversed before.`);
}

function topUpIdOf(partyId: string, shopId: string, reference: string): string {
  return createHash('sha256')
    .update(JSON.stringify(['top-up', partyId, shopId, reference]))
    .digest('hex')
    .slice(0, 32);
}

function balanceOf({ livemode, currency, partyId, id: shopId }: Shop) {
  return settlementAccount({ livemode, currency, partyId, shopId });
}
