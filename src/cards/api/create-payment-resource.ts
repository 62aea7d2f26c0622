// POST /v2/processing/payment-resources: stores a card in the vault and returns a token for it. The request body has a card number and
// a security code, so it is neither logged nor stored, and the response shows only the mask.
import { endpoint, type EndpointRequest } from '../../platform/http/endpoint.ts';
import { createIdempotently } from '../../platform/http/idempotent-create.ts';
import { validationMessage } from '../../platform/http/errors/validate.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { checkCard, expiryOf, givesAway, maskOf, passesLuhn, type EnteredCard } from '../domain/card.ts';
import { holdsCardNumber } from '../domain/written-numbers.ts';
import { madeForOf, mayUse, seenAt, type EnteredWith } from '../domain/payment-resource.ts';
import {
  paymentResourceBody,
  paymentResourceExample,
  PaymentResourceParams,
  PaymentResourceSchema,
} from './schema.ts';
import { pageOf } from '../domain/page-address.ts';
import { defined } from '../../defined.ts';
import type { Cards } from '../vault.ts';
import type { CardTesting } from '../card-testing.ts';
import type { PayerAttempts } from '../payer-attempts.ts';
import type { Database } from '../../platform/database/database.ts';

type Deps = {
  readonly db: Database;
  readonly cards: Cards;
  readonly cardTesting: CardTesting;
  readonly payerAttempts: Pick<PayerAttempts, 'countsAddress'>;
};

export const createPaymentResource = endpoint({
  operation: 'createPaymentResource',
  access: { scope: 'payment-resources:write', tokens: ['invoice', 'customer'], anyEntity: true },
  method: 'POST',
  path: '/v2/processing/payment-resources',
  tag: 'Cards',
  summary: 'Tokenise a card',
  description:
    'Returns a random token and session that stand for the card for one hour. With the access token of an invoice or a ' +
    'customer, only that object and your API keys can use them. The security code can be used once, within 15 minutes. Call ' +
    "this from the payer's browser: card data then never reaches your server.",
  body: PaymentResourceParams,
  bodyExample: paymentResourceExample,
  // Useless after 15 minutes, and few enough to try them all: a hash would be a copy of it for days.
  excludeFromHash: ['paymentTool.cvv'],
  status: 201,
  response: PaymentResourceSchema,
  errors: ['externalIDConflict'],
  limit: ({ caller, address, countedAs, body }, { cards, cardTesting, payerAttempts }: Deps) => {
    if (caller.kind === 'apiKey' || address === undefined) return undefined;
    const { cardNumber } = body.paymentTool;
    // A typing error does not count as another card.
    const hash = passesLuhn(cardNumber) ? cards.fingerprint(cardNumber).hash : undefined;
    const { kind, entityId } = caller;
    const counted = payerAttempts.countsAddress(maskOf(cardNumber)) ? countedAs : undefined;
    return cardTesting.waitSeconds({ address: counted, kind, entityId }, hash);
  },
  handle: async (request, deps: Deps) => {
    const { caller, body, now } = request;
    const { externalID } = body;
    const entered = enteredCard(body.paymentTool);
    const clientInfo = clientInfoOf(request);
    if (!clientInfo.ok) return clientInfo;

    const { number, expDate, securityCode } = entered;
    return createIdempotently({
      externalId: externalID,
      fingerprint: await deps.cards.cardMatchHash({ number, expiry: expiryOf(expDate) }),
      order: 'makeFirst',
      find: async (externalId) => {
        const earlier = await deps.cards.findByExternalId(deps.db, caller.partyId, externalId);
        // The ID of a payment resource is its token. A caller that only guesses an external ID must not get it.
        const id = caller.kind === 'apiKey' ? earlier?.value.token : undefined;
        return earlier && { ...earlier, value: { ...earlier.value, ...defined({ id }) } };
      },
      respond: (earlier) => (mayUse(earlier, caller) ? accept(paymentResourceBody(earlier)) : 'otherRequest'),
      make: async () => {
        const checked = checkCard(entered, now);
        if (!checked.ok) return checked;
        if (!deps.cards.takes(number)) return invalid(onlyTestCards);
        const madeFor = madeForOf(caller);
        const card = {
          partyId: caller.partyId,
          card: checked.value,
          clientInfo: clientInfo.value,
          ...defined({ madeFor, securityCode, externalId: externalID }),
        };
        const made = await deps.cards.tokenise(deps.db, card, now);
        return made ? accept(paymentResourceBody(made)) : 'externalIdTaken';
      },
    });
  },
});

/** A number that is entered in a sandbox by mistake must not reach a bank that the sandbox does not know. */
const onlyTestCards =
  'This sandbox takes test cards only. Use one of the simulated bank, or set SANDBOX_REAL_CARDS=on.';

type Request = EndpointRequest<undefined, undefined, PaymentResourceParams>;

function enteredCard(tool: PaymentResourceParams['paymentTool']): EnteredCard {
  const { cardNumber: number, expDate, cvv: securityCode, cardHolder: holder } = tool;
  return { number, expDate, ...defined({ securityCode, holder }) };
}

/** The address is always the one the service sees. The page's query may hold anything and is not stored. */
function clientInfoOf({ address, countedAs, body }: Request): Outcome<EnteredWith, 'invalidRequest'> {
  if (address === undefined) return invalid("Malformed 'x-forwarded-for' header");
  const { fingerprint, url, browser } = body.clientInfo;
  const page = url === undefined ? undefined : pageOf(url);
  if (url !== undefined && page === undefined) {
    return invalid(validationMessage('clientInfo.url', 'no_match', 'must be an absolute URL'));
  }
  const { cardNumber } = body.paymentTool;
  const kept = {
    'clientInfo.fingerprint': fingerprint,
    'clientInfo.url': page,
    'clientInfo.browser': browser && JSON.stringify(browser),
    externalID: body.externalID,
  };
  for (const [name, text] of Object.entries(kept)) {
    if (
      text !== undefined &&
      (givesAway(text, cardNumber) || (name !== 'externalID' && holdsCardNumber(text)))
    ) {
      return invalid(validationMessage(name, 'schema_violated', 'must not contain the card number'));
    }
  }
  return accept({ fingerprint, ...seenAt(address, countedAs), ...defined({ url: page, browser }) });
}

function invalid(message: string) {
  return refuse('invalidRequest', { message });
}
