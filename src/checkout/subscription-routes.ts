// Serves the page on which a payer looks after a subscription. To pay and to change the card, it leads to the checkout.
import type { FastifyInstance } from 'fastify';
import { defined } from '../defined.ts';
import type { Merchants } from '../merchants/merchants.ts';
import type { AccessTokens } from '../platform/keys/access-token.ts';
import type { Logger } from '../platform/log.ts';
import type { AmountRule } from '../receipts/domain/terms.ts';
import type { PayerView } from '../subscriptions/domain/payer-view.ts';
import type { ConsentLinks } from '../consent-links/port.ts';
import { payerPath, type NewCardTerms, type PayerOutcome, type PayerPages } from '../subscriptions/port.ts';
import type { Locale } from './domain/checkout-request.ts';
import type { Brand } from './domain/page-parts.ts';
import { noSubscriptionParts, subscriptionParts } from './domain/subscription/subscription-page.ts';
import { addPlainPage } from './plain-page.ts';

export type SubscriptionPorts = {
  readonly log: Pick<Logger, 'error'>;
  readonly tokens: Pick<AccessTokens, 'issue'>;
  readonly merchants: Pick<Merchants, 'shop'>;
  readonly payerPages: PayerPages;
  readonly consentLinks: Pick<ConsentLinks, 'offer'>;
  readonly publicUrl: () => string;
  readonly brandOf: (shop: { readonly partyId: string; readonly shopId: string }) => Promise<Brand>;
};

type Found = { readonly view: PayerView; readonly path: string };

export function addSubscriptionRoutes(app: FastifyInstance, ports: SubscriptionPorts): void {
  const { log, merchants, payerPages, brandOf } = ports;
  addPlainPage<Found>(app, log, {
    path: payerPath,
    view: 'subscription',
    shows: 'subscriptionPage',
    acts: 'changeByPayer',
    style: 'checkout',
    async find({ id, secret }) {
      const view = await payerPages.open(id, secret);
      return view && { view, path: `${payerPath.slice(1)}/${id}/${secret}` };
    },
    async partsOf(found, query, locale) {
      if (!found) return noSubscriptionParts(locale);
      const { terms } = found.view.subscription;
      const shop = await merchants.shop(terms.partyId, terms.shopId);
      if (!shop) throw new Error(`Shop ${terms.shopId} not found.`);
      const brand = await brandOf(terms);
      const shown = {
        ...found.view,
        shop: shop.name,
        isTest: !shop.livemode,
        brand,
        token: payerPages.tokenOf(found.view),
        ...defined({ said: (['outdated', 'refused'] as const).find((one) => one === query['said']) }),
      };
      return { ...subscriptionParts(shown, locale), brand };
    },
    async act({ view, path }, form, locale) {
      const outcome = await payerPages.act(view, wishIn(form));
      const to = { view, locale, path, ports };
      switch (outcome.did) {
        case 'pay':
          return checkoutOf('invoice', outcome.invoiceId, to, { hidden: defined({ email: outcome.email }) });
        case 'receipt':
          return checkoutOf('invoice', outcome.invoiceId, to);
        case 'newCard':
          return checkoutOf('customer', outcome.customerId, to, { asked: termsIn(outcome.terms) });
        case 'agree':
          return agreementOf(outcome, to);
        case 'outdated':
        case 'refused':
          return said(outcome.did, locale);
        default:
          return undefined;
      }
    },
  });
}

function wishIn(form: URLSearchParams) {
  const of = (name: string) => form.get(name) ?? '';
  return { act: of('act'), token: of('token'), reason: of('reason'), receipt: of('receipt') };
}

function said(what: string, locale: Locale): string {
  return `?${new URLSearchParams({ locale, said: what }).toString()}`;
}

/** Relative, as the checkout. */
async function agreementOf(
  { seriesId, terms, named }: PayerOutcome & { did: 'agree' },
  {
    locale,
    path,
    ports: { consentLinks, publicUrl },
  }: { locale: Locale; path: string; ports: SubscriptionPorts },
): Promise<string> {
  const offered = await consentLinks.offer({ seriesId, terms, named, language: locale });
  if (!offered.ok) return said('refused', locale);
  const query = new URLSearchParams({ locale, returnTo: `${publicUrl()}/${path}` });
  return `../..${offered.value.url.slice(publicUrl().length)}?${query.toString()}`;
}

/** Relative, so that the payer stays on the host they came to. What is behind the # reaches no log. */
function checkoutOf(
  kind: 'invoice' | 'customer',
  entityId: string,
  {
    view: { subscription },
    locale,
    path,
    ports: { tokens },
  }: { view: PayerView; locale: Locale; path: string; ports: Pick<SubscriptionPorts, 'tokens'> },
  more: { readonly asked?: Record<string, string>; readonly hidden?: Record<string, string> } = {},
): string {
  const { partyId } = subscription.terms;
  const token = tokens.issue({ kind, entityId, partyId, isFor: 'checkout' });
  const query = new URLSearchParams({
    [`${kind}ID`]: entityId,
    locale,
    privateReturn: 'true',
    ...more.asked,
  });
  const secret = new URLSearchParams({ [`${kind}AccessToken`]: token, returnPath: path, ...more.hidden });
  return `../../checkout?${query.toString()}#${secret.toString()}`;
}

function termsIn({ schedule, amountRule }: NewCardTerms): Record<string, string> {
  return {
    ...(schedule === undefined ? {} : { recurringSchedule: schedule }),
    ...(amountRule ? { recurringAmountRule: ruleText(amountRule) } : {}),
  };
}

/** As the checkout reads it. */
function ruleText(rule: AmountRule): string {
  return `${rule.kind}:${rule.kind === 'variable' ? rule.text : rule.amountMinor}`;
}
