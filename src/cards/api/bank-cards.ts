// /payres/v0/bank-cards: stores a card for payouts in the vault and returns a token, with which destinations are created. The request
// has a card number; the security code, which a payout never has, is checked and not stored.
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
    cvv: Type.Optional(
      Type.String({ pattern: '^\\d{3,4}$', description: 'Checked and never stored: a payout has none.' }),
    ),
  },
  { title: 'BankCard' },
);

const shown = {
  token: Type.String({
    description: 'Stands for the card when you create a destination. You can use it more than once.',
  }),
  ...shownOfCard,
  validUntil: { ...DateTime, description: 'The token can be used until then.' },
};
const BankCardToken = Type.Object(shown, { title: 'BankCardToken' });
const StoredBankCard = Type.Object(
  { ...shown, authData: Type.String({ description: 'Opaque. Destinations do not need it.' }) },
  { title: 'StoredBankCard' },
);

export const storeBankCard = endpoint({
  operation: 'storeBankCard',
  access: { scope: 'payouts:write' },
  method: 'POST',
  path: '/payres/v0/bank-cards',
  tag: 'Destinations',
  summary: 'Store a card for payouts',
  description:
    'Returns a random token that stands for the card for one hour, for your party only. In the sandbox the expiry date may ' +
    'be in the past.',
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
    if (!cards.takes(number))
      return refuse('invalidCardData', {
        message: 'This sandbox takes test cards only. Set SANDBOX_REAL_CARDS=on to take others.',
      });
    const made = await cards.tokenise(
      db,
      {
        partyId: caller.partyId,
        purpose: 'payout',
        card: checked.value,
        // The request comes from the merchant's server, without a payer.
        clientInfo: { fingerprint: '', ip: '' },
      },
      now,
    );
    if (!made) throw new Error('A card without an external ID was reported to have a taken one.');
    return accept({ ...bankCardBody(made), authData: made.session });
  },
});

export const getBankCard = endpoint({
  operation: 'getBankCard',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/payres/v0/bank-cards/{token}',
  tag: 'Destinations',
  summary: 'Get a stored card',
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
