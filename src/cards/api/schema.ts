// Cards in the API: requests have a number, responses a mask.
import { Type, type Static } from 'typebox';
import type { CardNumbers } from '../../platform/http/request/card-numbers.ts';
import { DateTime, ExternalID } from '../../platform/http/schemas.ts';
import type { CardDetails } from '../domain/card.ts';
import type { PaymentResource } from '../domain/payment-resource.ts';

export const CardNumber = Type.String({
  pattern: '^\\d{12,19}$',
  description: 'Digits only.',
  'x-cardNumbers': 'entered' satisfies CardNumbers,
});
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

export const SecurityCode = Type.String({
  pattern: '^\\d{3,4}$',
  description: 'Stored for 15 minutes, for one use.',
});

const CardData = Type.Object(
  {
    paymentToolType: Type.Enum(['CardData']),
    cardNumber: CardNumber,
    expDate: Type.String({
      pattern: '^\\d{2}/(\\d{2}|\\d{4})$',
      description: '`MM/YY` or `MM/YYYY`. A card is valid until the end of its month.',
    }),
    cvv: Type.Optional(SecurityCode),
    cardHolder: Type.Optional(CardHolder),
  },
  { title: 'CardData' },
);

const fingerprint = Type.String({
  maxLength: 1_000,
  description: 'Your ID for the browser, the same each time.',
});
/** Kept without its query, so the endpoint checks what is left. */
const url = Type.String({
  maxLength: 1_000,
  description: 'The page the card was entered on.',
  'x-cardNumbers': 'page' satisfies CardNumbers,
});

const browserText = (maxLength: number) => Type.Optional(Type.String({ maxLength }));
const pixels = Type.Optional(Type.Integer({ minimum: 0, maximum: 999_999 }));
const BrowserFactsParams = Type.Object(
  {
    accept: browserText(2_048),
    userAgent: browserText(2_048),
    language: browserText(35),
    javaEnabled: Type.Optional(Type.Boolean()),
    javaScriptEnabled: Type.Optional(Type.Boolean()),
    colorDepth: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
    screenWidth: pixels,
    screenHeight: pixels,
    timeZoneOffset: Type.Optional(
      Type.Integer({
        minimum: -1_440,
        maximum: 1_440,
        description: 'In minutes, as `getTimezoneOffset()` returns it: `-180` in Moscow.',
      }),
    ),
  },
  {
    title: 'BrowserFactsParams',
    description: 'For 3-D Secure: passed on to the bank, and in no response.',
  },
);

const enteredWith = { fingerprint, url: Type.Optional(url), browser: Type.Optional(BrowserFactsParams) };

/** Of a payer who uses a saved card: a merchant's server may stand between the payer and the service. */
export const PresentClientInfoParams = Type.Object(
  {
    fingerprint,
    url: Type.Optional(
      Type.String({
        maxLength: 1_000,
        description: 'The page the payer is on. It is kept without its query.',
      }),
    ),
    browser: Type.Optional(BrowserFactsParams),
    ip: Type.Optional(
      Type.String({
        maxLength: 45,
        description: "The payer's address, if an API key sends the request. The default is the sender's.",
      }),
    ),
  },
  { title: 'PresentClientInfoParams' },
);

export const PaymentResourceParams = Type.Object(
  {
    paymentTool: CardData,
    clientInfo: Type.Object(enteredWith, { title: 'ClientInfoParams' }),
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
