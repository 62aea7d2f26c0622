// Implements port.ts: opens the page of a link, and does what the payer asks for by the decisions that the API has.
import { epochMsOf } from '../clock.ts';
import { findActiveCard, loadConfirmation, type Customers } from '../customers/port.ts';
import { defined } from '../defined.ts';
import { cardOfPayment } from '../payments/port.ts';
import type { LinkSecrets } from '../platform/keys/link-secrets.ts';
import type { Consents } from '../recurring/port.ts';
import { change, type ChangeDeps } from './api/change-subscription.ts';
import {
  actsOf,
  decideForPayer,
  nextChargeOf,
  payableOf,
  payerActs,
  type PayerView,
} from './domain/payer-acts.ts';
import { sumOf } from './domain/changes/proration.ts';
import { isoOf } from './domain/schedule.ts';
import type { Subscription } from './domain/subscription.ts';
import { endOfPayerLink, payerLinkOf } from './payer-link.ts';
import type { NewCardTerms, PayerOutcome, PayerPages } from './port.ts';
import { findPeriods, findSubscriptionsOfCustomer, loadSubscription } from './store/subscriptions.ts';

export type PayerPageDeps = ChangeDeps & {
  readonly customers: Customers;
  readonly consents: Pick<Consents, 'find' | 'seriesOfCustomer' | 'settings'>;
  readonly linkSecrets: LinkSecrets;
  readonly publicUrl: () => string;
};

const shownPeriods = 12;

export function openPayerPages(deps: PayerPageDeps): PayerPages {
  const { linkSecrets } = deps;
  const tokenOf = (id: string, version: number) =>
    `${version}.${linkSecrets.secretOf('act', `${id}.${version}`)}`;

  return {
    linkOf: (id, now) => payerLinkOf(deps, id, now),

    async open(id, secret) {
      const endsMs = await endOfPayerLink(linkSecrets, id, secret);
      const view = endsMs === undefined ? undefined : await viewOf(id, deps);
      return view && epochMsOf(view.now) < (endsMs ?? 0) ? view : undefined;
    },

    tokenOf: ({ subscription, version }) => tokenOf(subscription.terms.id, version),

    async act(view, { act: wished, token }) {
      const act = payerActs.find((known) => known === wished);
      const { subscription, version, acts, may, now } = view;
      const { id, partyId } = subscription.terms;
      const [, seen = '', secret = ''] = /^(\d{1,9})\.([\w.-]+)$/.exec(token) ?? [];
      const isOfPage = await linkSecrets.isSecret('act', `${id}.${seen}`, secret);
      if (!act || !isOfPage || !acts.includes(act)) return { did: 'nothing' };
      if (act === 'pay') return payment(subscription);
      if (act === 'newCard') return newCard(view, deps);
      if (Number(seen) !== version) return { did: 'outdated' };
      const ids = { invoiceId: deps.ids.next() };
      const outcome = await change(
        { caller: { partyId }, params: { subscriptionID: id }, now },
        deps,
        (current, at) => decideForPayer(current, act, { may, ...ids }, at),
        act === 'resume' ? 'a shop that trades' : 'nothing',
      );
      return { did: outcome.ok ? 'changed' : 'refused' };
    },
  };
}

async function viewOf(id: string, deps: PayerPageDeps): Promise<PayerView | undefined> {
  const { db, merchants, consents } = deps;
  const stored = await loadSubscription(db, id);
  if (!stored) return undefined;
  const { subscription, version } = stored;
  const { terms } = subscription;
  const party = await merchants.party(terms.partyId);
  if (!party) throw new Error(`Party ${terms.partyId} not found.`);
  const now = merchants.timeOf(party);
  const settings = await consents.settings(db, terms);
  const may = { pause: settings.pauseByPayer ?? true, changeCard: settings.newCardByPayer ?? true };
  return {
    subscription,
    version,
    periods: await findPeriods(db, id, { before: 1_000_001, limit: shownPeriods }),
    schedule: isoOf(terms.schedule.every),
    may,
    acts: actsOf(subscription, may, now),
    now,
    ...defined({ card: await cardOf(subscription, deps), nextCharge: nextChargeOf(subscription) }),
  };
}

/** Without a customer, that of the payment which later charges follow. */
async function cardOf({ terms: { customerId }, parent }: Subscription, { db }: PayerPageDeps) {
  if (customerId === undefined) return parent && cardOfPayment(db, parent);
  const bindingId = (await findActiveCard(db, customerId))?.bindingId;
  if (bindingId === undefined) return undefined;
  return (await loadConfirmation(db, { customerId, bindingId }))?.binding.card.details;
}

function payment(subscription: Subscription): PayerOutcome {
  const invoiceId = payableOf(subscription)?.id;
  return invoiceId === undefined ? { did: 'nothing' } : { did: 'pay', invoiceId };
}

async function newCard(view: PayerView, deps: PayerPageDeps): Promise<PayerOutcome> {
  const { customerId } = view.subscription.terms;
  if (customerId === undefined) return { did: 'nothing' };
  return { did: 'newCard', customerId, terms: await termsOfNewCard(view, customerId, deps) };
}

/**
 * Those of the present card, because a consent covers all that is charged to the card. If it has no amount, or one that is too small
 * for a subscription, those of the customer's subscriptions.
 */
async function termsOfNewCard(
  { subscription, schedule, now }: PayerView,
  customerId: string,
  { db, customers, consents }: PayerPageDeps,
): Promise<NewCardTerms> {
  const { partyId } = subscription.terms;
  const running = (await findSubscriptionsOfCustomer(db, partyId, customerId))
    .map((stored) => stored.subscription)
    .filter(({ phase }) => phase !== 'ended');
  const most = Math.max(...running.map(largestChargeMinor));
  const { card } = (await customers.chargeable(db, partyId, customerId)) ?? {};
  if (card) {
    const { token, livemode, seriesId: named } = card;
    const seriesId = await consents.seriesOfCustomer(db, { named, customerId, partyId, livemode, token });
    const series = (await consents.find(db, seriesId))?.series;
    const { schedule: agreed, amountRule } = series?.mandate ?? {};
    const isOver = series?.endsAt !== undefined && series.endsAt <= now;
    const isEnough = amountRule?.kind === 'variable' || (amountRule?.amountMinor ?? 0) >= most;
    if (amountRule && isEnough && !isOver) return { amountRule, ...defined({ schedule: agreed }) };
  }
  // Two subscriptions have two schedules.
  return running.length === 1
    ? { schedule, amountRule: { kind: 'fixed', amountMinor: most } }
    : { amountRule: { kind: 'upTo', amountMinor: most } };
}

function largestChargeMinor({ items, scheduledItems = [], open }: Subscription): number {
  const last = items.map((item) => ({ ...item, priceMinor: item.lastPriceMinor ?? item.priceMinor }));
  const amounts = [sumOf(items), sumOf(last), sumOf(scheduledItems), ...open.map((one) => one.amountMinor)];
  return Math.max(...amounts.map(Number));
}
