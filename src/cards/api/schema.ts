// Cards in the API: requests have a number, responses a mask.
import { Type, type Static } from 'typebox';
import { DateTime, ExternalID } from '../../platform/http/schemas.ts';
import type { CardDetails } from '../domain/card.ts';
import type { PaymentResource } from '../domain/payment-resource.ts';

export const CardNumber = Type.String({ pattern: '^\\d{12,19}$', description: 'Digits only.' });
export const CardHolder = Type.String({
  // The symbols at the end are not punctuation in Unicode, but some keyboards write names with them.
  pattern: '^[\\p{L}\\p{M}\\p{P}\\s$+<=>^`|~]{1,100}$',
  description: 'As on the card: characters of any script, spaces and punctuation.',
});
/** What every response shows of a card. */
export const shownOfCard = {
  bin: Type.String({ description: 'The first six digits.' }),
  lastDigits: Type.String({ description: 'The last four.' }),
  paymentSystem: Type.String({ description: '`visa`, `mastercard`, `nspkmir` …' }),
};

const CardData = Type.Object(
  {
    paymentToolType: Type.Enum(['CardData']),
    cardNumber: CardNumber,
    expDate: Type.String({
      pattern: '^\\d{2}/(\\d{2}|\\d{4})$',
      description: '`MM/YY` or `MM/YYYY`. A card is valid until the end of its month.',
    }),
    cvv: Type.Optional(
      Type.String({ pattern: '^\\d{3,4}$', description: 'Stored for 15 minutes, for one use.' }),
    ),
    cardHolder: Type.Optional(CardHolder),
  },
  { title: 'CardData' },
);

const fingerprint = Type.String({
  maxLength: 1_000,
  description: 'Your ID for the browser, the same each time.',
});
const url = Type.String({ maxLength: 1_000, description: 'The page the card was entered on.' });

export const PaymentResourceParams = Type.Object(
  {
    paymentTool: CardData,
    clientInfo: Type.Object({ fingerprint, url: Type.Optional(url) }, { title: 'ClientInfoParams' }),
    externalID: Type.Optional(ExternalID),
  },
  { title: 'PaymentResourceParams' },
);
export type PaymentResourceParams = Static<typeof PaymentResourceParams>;

export const PaymentToolDetails = Type.Object(
  {
    detailsType: Type.Enum(['PaymentToolDetailsBankCard']),
    bin: shownOfCard.bin,
    lastDigits: shownOfCard.lastDigits,
    first6: Type.String({ description: 'The same as bin.' }),
    last4: Type.String({ description: 'The same as lastDigits.' }),
    cardNumberMask: Type.String({ description: 'A star for each hidden digit: `424242******4242`.' }),
    paymentSystem: shownOfCard.paymentSystem,
  },
  { title: 'PaymentToolDetails' },
);

export const ClientInfo = Type.Object(
  {
    fingerprint,
    ip: Type.String({ description: 'The address the request came from, as the service saw it.' }),
    url: Type.Optional(Type.String({ description: 'The page, without its query.' })),
  },
  { title: 'ClientInfo' },
);

export const PaymentResourceSchema = Type.Object(
  {
    paymentToolToken: Type.String({ description: 'Stands for the card.' }),
    paymentSession: Type.String({ description: 'Stands for the security code and the browser.' }),
    paymentToolDetails: PaymentToolDetails,
    clientInfo: ClientInfo,
    validUntil: { ...DateTime, description: 'A payment or a binding can begin with it until then.' },
  },
  { title: 'PaymentResource' },
);

/** Works in the sandbox as it is. */
export const paymentResourceExample = {
  paymentTool: {
    paymentToolType: 'CardData',
    cardNumber: '4242424242424242',
    expDate: '12/30',
    cvv: '123',
    cardHolder: 'LEXA SVOTIN',
  },
  clientInfo: { fingerprint: '71fc5ec2a4d8c83a3ed6d4e2d8a1a1c7' },
} satisfies PaymentResourceParams;

export function paymentToolDetailsBody(card: CardDetails): Static<typeof PaymentToolDetails> {
  const { bin, lastDigits, mask, paymentSystem } = card;
  return {
    detailsType: 'PaymentToolDetailsBankCard',
    bin,
    lastDigits,
    first6: bin,
    last4: lastDigits,
    cardNumberMask: mask,
    paymentSystem,
  };
}

export function paymentResourceBody(resource: PaymentResource): Static<typeof PaymentResourceSchema> {
  return {
    paymentToolToken: resource.token,
    paymentSession: resource.session,
    paymentToolDetails: paymentToolDetailsBody(resource.card),
    clientInfo: resource.clientInfo,
    validUntil: resource.validUntil,
  };
}
