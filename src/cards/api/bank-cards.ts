// /payres/v0/bank-cards: a card to be paid out to goes into the vault, and a token comes out that destinations are made
// with. Like the payment resources it is the one request with a card number in it; the security code, which a payout
// never has, is looked at and not kept.
import { Type, type Static } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { DateTime } from '../../platform/http/schemas.ts';
import { accept, refuse } from '../../refusal.ts';
import { CardHolder, CardNumber, shownOfCard } from './schema.ts';
import { checkPayoutCard } from '../domain/payout-card.ts';
import type { PaymentResource } from '../domain/payment-resource.ts';
import { defined } from '../../defined.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Cards } from '../vault.ts';

const BankCardParams = Type.Object(
  {
    type: Type.Optional(Type.Enum(['BankCard'])),
    cardNumber: CardNumber,
    expDate: Type.Optional(
      Type.String({ pattern: '^\\d{2}/(\\d{2}|\\d{4})$', description: '`MM/YY` or `MM/YYYY`.' }),
    ),
    cardHolder: Type.Optional(CardHolder),
    cvv: Type.Optional(Type.String({ pattern: '^\\d{3,4}$', description: 'Never kept: a payout has none.' })),
  },
  { title: 'BankCard' },
);

const shown = {
  token: Type.String({
    description: 'Stands for the card when a destination is made. It may be used more than once.',
  }),
  ...shownOfCard,
  validUntil: { ...DateTime, description: 'Until when the token can be used.' },
};
const BankCardToken = Type.Object(shown, { title: 'BankCardToken' });
const StoredBankCard = Type.Object(
  { ...shown, authData: Type.String({ description: 'Opaque; destinations do not need it.' }) },
  { title: 'StoredBankCard' },
);

export const storeBankCard = endpoint({
  operation: 'storeBankCard',
  access: { scope: 'payouts:write' },
  method: 'POST',
  path: '/payres/v0/bank-cards',
  tag: 'Destinations',
  summary: 'Store a card to be paid out to',
  description:
    'Turns the number of a card into a token, opaque and random, that stands for it for an hour, for your party alone. ' +
    'The same card stored twice has two tokens. In the sandbox the expiry may lie in the past.',
  excludeFromHash: ['cvv'],
  body: BankCardParams,
  bodyExample: {
    type: 'BankCard',
    cardNumber: '4242424242424242',
    expDate: '12/30',
    cardHolder: 'LEXA SVOTIN',
  } satisfies Static<typeof BankCardParams>,
  status: 201,
  response: StoredBankCard,
  errors: ['unsupportedCard', 'invalidCardData'],
  handle: async (
    { caller, body, now },
    { db, cards, payouts }: { db: Database; cards: Cards; payouts: { livemode: boolean } },
  ) => {
    const { cardNumber: number, expDate, cardHolder, cvv } = body;
    const entered = { number, ...defined({ expDate, holder: cardHolder, securityCode: cvv }) };
    const checked = checkPayoutCard(entered, now, { takesExpired: !payouts.livemode });
    if (!checked.ok) return checked;
    const made = await cards.tokenise(
      db,
      {
        partyId: caller.partyId,
        purpose: 'payout',
        card: checked.value,
        // There is no payer, only the merchant's server.
        clientInfo: { fingerprint: '', ip: '' },
      },
      now,
    );
    if (!made) throw new Error('a card without an external id was found to have a taken one');
    return accept({ ...bankCardBody(made), authData: made.session });
  },
});

export const getBankCard = endpoint({
  operation: 'getBankCard',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/payres/v0/bank-cards/{token}',
  tag: 'Destinations',
  summary: 'What is shown of a stored card',
  params: Type.Object({ token: Type.String({ minLength: 1, maxLength: 1_000 }) }),
  status: 200,
  response: BankCardToken,
  errors: ['bankCardNotFound'],
  handle: async ({ caller, params, now }, { db, cards }: { db: Database; cards: Cards }) => {
    const found = await cards.findForPayout(db, caller.partyId, params.token);
    return found && now < found.validUntil ? accept(bankCardBody(found)) : refuse('bankCardNotFound');
  },
});

function bankCardBody({ token, card, validUntil }: PaymentResource): Static<typeof BankCardToken> {
  const { bin, lastDigits, paymentSystem } = card;
  return { token, bin, lastDigits, paymentSystem, validUntil };
}
