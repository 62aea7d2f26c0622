// Requests of merchants who pay out: identities, wallets, destinations, withdrawals, transfers.
import type { Chance } from '../world/chance.ts';
import { externalId, recent, type Action, type Knowledge } from './knowledge.ts';

const base = '/wallet/v0';
const hourMs = 3_600_000;

/** Mostly roubles; the others have no minor units, or three digits of them. */
function oneCurrency(chance: Chance): string {
  return chance.oneOf(['RUB', 'RUB', 'RUB', 'JPY', 'KWD']);
}

function currencyOf(known: Knowledge, id: string | undefined): string {
  return known.currencies.get(id ?? '') ?? 'RUB';
}

export const walletActions: readonly Action[] = [
  {
    name: 'create an identity',
    weight: 0.8,
    wish: (known, chance) => ({
      method: 'POST',
      path: `${base}/identities`,
      body: { name: 'Keyn Fawkes', provider: 'test', class: 'person', ...externalId(known, chance) },
      learn: ({ id }) => known.identities.push(id),
    }),
  },
  {
    name: 'open a wallet',
    weight: 1.2,
    wish: (known, chance) => {
      const identity = recent(known.identities, chance);
      return identity === undefined
        ? undefined
        : {
            method: 'POST',
            path: `${base}/wallets`,
            body: { name: 'Payouts', identity, currency: oneCurrency(chance), ...externalId(known, chance) },
            learn: ({ id, currency }) => {
              known.wallets.push(id);
              known.currencies.set(id, currency);
            },
          };
    },
  },
  {
    name: 'start an identification',
    weight: 0.3,
    wish: (known, chance) => {
      const identity = recent(known.identities, chance);
      const proofs = [{ type: 'RUSDomesticPassport', token: 'any' }];
      return identity === undefined
        ? undefined
        : {
            method: 'POST',
            path: `${base}/identities/${identity}/challenges`,
            body: { type: 'esia', proofs },
            learn: ({ id }) => known.challenges.push({ identity, id }),
          };
    },
  },
  {
    name: 'deposit',
    weight: 1.5,
    wish: (known, chance) => {
      const wallet = recent(known.wallets, chance);
      const currency = currencyOf(known, wallet);
      const body = { amount: chance.oneOf([1_000, 1_000_000]), currency };
      return wallet === undefined
        ? undefined
        : { method: 'POST', path: `${base}/test/deposits`, body: { wallet, body } };
    },
  },
  {
    name: 'store a card to pay out to',
    weight: 1,
    wish: (known, chance) => ({
      method: 'POST',
      path: '/payres/v0/bank-cards',
      body: {
        type: 'BankCard',
        cardNumber: chance.oneOf([
          '4242424242424242',
          '5555555555554444',
          '4000000000005704',
          '4000000000000002',
        ]),
        expDate: '12/30',
        cardHolder: 'LEXA SVOTIN',
      },
      learn: ({ token }) => known.payoutCards.push(token),
    }),
  },
  {
    name: 'create a destination',
    weight: 1.2,
    wish: (known, chance) => {
      const identity = recent(known.identities, chance);
      const token = recent(known.payoutCards, chance);
      if (!identity || token === undefined) return undefined;
      const resource = { type: 'BankCardDestinationResource', token };
      return {
        method: 'POST',
        path: `${base}/destinations`,
        body: {
          name: 'Card',
          identity,
          currency: oneCurrency(chance),
          resource,
          ...externalId(known, chance),
        },
        learn: ({ id, currency }) => {
          known.destinations.push(id);
          known.currencies.set(id, currency);
        },
      };
    },
  },
  {
    name: 'withdraw',
    weight: 8,
    wish: (known, chance) => {
      const wallet = recent(known.wallets, chance);
      const currency = currencyOf(known, wallet);
      const alike = known.destinations.filter((id) => currencyOf(known, id) === currency);
      const destination = recent(alike, chance);
      if (!wallet || !destination) return undefined;
      const amount = chance.oneOf([100, 1_500, 1_500, 20_000, 5_000_000, 60_000_000, 99_051, 99_051, 99_928]);
      return {
        method: 'POST',
        path: `${base}/withdrawals`,
        body: { wallet, destination, body: { amount, currency }, ...externalId(known, chance) },
        learn: ({ id }) => known.withdrawals.push(id),
      };
    },
  },
  {
    name: 'transfer',
    weight: 1.5,
    wish: (known, chance) => {
      const sender = recent(known.wallets, chance);
      const receiver = chance.oneOf(known.wallets);
      const body = { amount: chance.oneOf([1, 500, 3_000_000]), currency: currencyOf(known, sender) };
      return sender === undefined
        ? undefined
        : {
            method: 'POST',
            path: `${base}/w2w/transfers`,
            body: { sender, receiver, body, ...externalId(known, chance) },
            learn: ({ id }) => known.transfers.push(id),
          };
    },
  },
  {
    name: 'grant a wallet or a destination',
    weight: 0.3,
    wish: (known, chance, now) => {
      const wallet = recent(known.wallets, chance);
      const destination = recent(known.destinations, chance);
      const validUntil = new Date(Date.parse(now()) + hourMs).toISOString();
      if (wallet && chance.isTrue(0.5)) {
        const asset = { amount: 100, currency: currencyOf(known, wallet) };
        return { method: 'POST', path: `${base}/wallets/${wallet}/grants`, body: { asset, validUntil } };
      }
      return destination === undefined
        ? undefined
        : {
            method: 'POST',
            path: `${base}/destinations/${destination}/grants`,
            body: { validUntil },
          };
    },
  },
  {
    name: 'look at a wallet or a withdrawal',
    weight: 2,
    wish: (known, chance) => {
      const wallet = recent(known.wallets, chance);
      const withdrawal = recent(known.withdrawals, chance);
      const destination = recent(known.destinations, chance);
      const paths = [
        ...(wallet ? [`wallets/${wallet}`, `wallets/${wallet}/account`, 'deposits?limit=10'] : []),
        ...(withdrawal
          ? [
              `withdrawals/${withdrawal}`,
              `withdrawals/${withdrawal}/events?limit=20`,
              `withdrawals/${withdrawal}/events/1`,
              `withdrawals/${withdrawal}/timeline`,
              'withdrawals?limit=10',
            ]
          : []),
        ...(destination
          ? [`destinations/${destination}`, `destinations/${destination}/events?limit=10`]
          : []),
      ];
      return paths.length === 0 ? undefined : { method: 'GET', path: `${base}/${chance.oneOf(paths)}` };
    },
  },
  {
    name: 'look at who is paid, and how',
    weight: 0.8,
    wish: (known, chance) => {
      const identity = recent(known.identities, chance);
      const challenge = recent(known.challenges, chance);
      const transfer = recent(known.transfers, chance);
      const card = recent(known.payoutCards, chance);
      const paths = [
        ...(identity === undefined
          ? []
          : [`${base}/identities/${identity}`, `${base}/identities/${identity}/challenges`]),
        ...(challenge ? [`${base}/identities/${challenge.identity}/challenges/${challenge.id}`] : []),
        ...(transfer === undefined ? [] : [`${base}/w2w/transfers/${transfer}`]),
        ...(card === undefined ? [] : [`/payres/v0/bank-cards/${card}`]),
      ];
      return paths.length === 0 ? undefined : { method: 'GET', path: chance.oneOf(paths) };
    },
  },
  {
    name: 'look for a name among payouts',
    weight: 0.4,
    wish: (known, chance) => {
      const name = `name-${chance.below(known.named + 1)}`;
      const path = chance.oneOf([
        `external/wallets?externalID=${name}`,
        `external-ids/destinations/${name}`,
        `external-ids/withdrawals/${name}`,
      ]);
      return { method: 'GET', path: `${base}/${path}` };
    },
  },
];
