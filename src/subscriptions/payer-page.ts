// Implements port.ts: opens the page of a link, and does what the payer asks for by the decisions that the API has.
import { createHash } from 'node:crypto';
import { epochMsOf } from '../clock.ts';
import { findActiveCard, loadConfirmation, type Customers } from '../customers/port.ts';
import { defined } from '../defined.ts';
import { loadInvoice } from '../invoices/port.ts';
import { cardOfPayment } from '../payments/port.ts';
import type { LinkSecrets } from '../platform/keys/link-secrets.ts';
import type { Charging, Consents } from '../recurring/port.ts';
import { accept } from '../refusal.ts';
import type { ChargeRefusal } from '../retry-rules/domain/may-charge.ts';
import { change, type ChangeDeps } from './api/change-subscription.ts';
import { actsOf, decideForPayer, decideReason, payableOf, payerActs } from './domain/payer-acts.ts';
import { nextChargeOf, type NextCharge } from './domain/duties/next-charge.ts';
import { outlookOf, type Outlook } from './domain/payer-outlook.ts';
import type { PayerView } from './domain/payer-view.ts';
import { findChargedSeries } from './charged-series.ts';
import { isoOf } from './domain/schedule.ts';
import {
  payerReasons,
  type Period,
  type Subscription,
  type SubscriptionTerms,
} from './domain/subscription.ts';
import { endOfPayerLink, payerLinkOf } from './payer-link.ts';
import { termsOfNewCard, termsToAgree } from './payer-terms.ts';
import type { PayerOutcome, PayerPages } from './port.ts';
import { findPeriods, loadSubscription } from './store/subscriptions.ts';

export type PayerPageDeps = ChangeDeps & {
  readonly charging: Pick<Charging, 'preview'>;
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

    async act(view, { act: wished, token, reason: said, receipt }) {
      const act = payerActs.find((known) => known === wished);
      const { subscription, version, acts, may, now } = view;
      const { id, partyId } = subscription.terms;
      const [, seen = '', secret = ''] = /^(\d{1,9})\.([\w.-]+)$/.exec(token) ?? [];
      const isOfPage = await linkSecrets.isSecret('act', `${id}.${seen}`, secret);
      if (isOfPage && receipt) return receiptOf(view, receipt);
      if (!act || !isOfPage || !acts.includes(act)) return { did: 'nothing' };
      if (act === 'pay') return payment(subscription, deps);
      if (act === 'newCard') return newCard(view, deps);
      if (act === 'agree') return agreement(view);
      if (Number(seen) !== version) return { did: 'outdated' };
      const reason = payerReasons.find((known) => known === said);
      if (act === 'reason' && !reason) return { did: 'nothing' };
      const ids = { invoiceId: deps.ids.next() };
      const outcome = await change(
        { caller: { partyId }, params: { subscriptionID: id }, now },
        deps,
        (current, at) =>
          act === 'reason'
            ? accept(reason ? decideReason(current, reason) : [])
            : decideForPayer(current, act, { may, ...ids }, at),
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
  const newTerms = await termsToAgree(subscription, now, deps);
  const may = {
    pause: settings.pauseByPayer ?? true,
    changeCard: settings.newCardByPayer ?? true,
    agree: newTerms !== undefined,
  };
  const acts = actsOf(subscription, may, now);
  const outlook = outlookOf(subscription, acts, may, now);
  const nextCharge = nextChargeOf(subscription, now);
  const isAny = [nextCharge, outlook.pause, outlook.resume, outlook.takeBack].some(Boolean);
  const charged = isAny ? await findChargedSeries(db, subscription, consents) : undefined;
  const ofCharge: Allowed = async (charge) => charge && ruledCharge(charge, charged?.series.id, terms, deps);
  const periods = await findPeriods(db, id, { before: 1_000_001, limit: shownPeriods });
  return {
    subscription,
    version,
    periods,
    receipts: await receiptsOf(periods, deps),
    schedule: isoOf(terms.schedule.every),
    may,
    acts,
    outlook: await allowedOutlook(outlook, ofCharge),
    now,
    ...defined({
      card: await cardOf(subscription, deps),
      nextCharge: await ofCharge(nextCharge),
      newTerms,
    }),
  };
}

type Allowed = (charge: NextCharge | undefined) => Promise<NextCharge | undefined>;

async function allowedOutlook(outlook: Outlook, allowed: Allowed): Promise<Outlook> {
  const [pause, resume, takeBack] = [outlook.pause, outlook.resume, outlook.takeBack];
  return {
    ...outlook,
    ...defined({
      pause: await allowed(pause),
      resume: await allowed(resume),
      takeBack: await allowed(takeBack),
    }),
  };
}

const waitsFor: Partial<Record<ChargeRefusal['code'], NextCharge['waitsFor']>> = {
  recurrentAmountAboveConsent: 'consent',
  recurrentConsentExpired: 'consent',
  recurrentConsentRevoked: 'consent',
  recurrentStopped: 'card',
  recurrentCardExpired: 'card',
};

/** With what the rules would refuse it for at its time, and the payer can change before. */
async function ruledCharge(
  charge: NextCharge,
  seriesId: string | undefined,
  { currency }: Pick<SubscriptionTerms, 'currency'>,
  { db, charging }: Pick<PayerPageDeps, 'db' | 'charging'>,
): Promise<NextCharge> {
  if (seriesId === undefined) return { ...charge, waitsFor: 'card' };
  const amount = { minor: charge.amountMinor, currency };
  const found = await charging.preview(db, seriesId, { invoiceCreatedAt: 'then', amount }, charge.at);
  const refused = found && !found.decision.may ? waitsFor[found.decision.code] : undefined;
  return refused ? { ...charge, waitsFor: refused } : charge;
}

/** Without a customer, that of the payment which later charges follow. */
async function cardOf({ terms: { customerId }, parent }: Subscription, { db }: PayerPageDeps) {
  if (customerId === undefined) return parent && cardOfPayment(db, parent);
  const bindingId = (await findActiveCard(db, customerId))?.bindingId;
  if (bindingId === undefined) return undefined;
  return (await loadConfirmation(db, { customerId, bindingId }))?.binding.card.details;
}

async function payment(
  subscription: Subscription,
  { db, payerEmails }: PayerPageDeps,
): Promise<PayerOutcome> {
  const invoiceId = payableOf(subscription)?.id;
  if (invoiceId === undefined) return { did: 'nothing' };
  return { did: 'pay', invoiceId, ...defined({ email: await payerEmails.addressOf(db, subscription) }) };
}

function receiptOf({ periods, receipts }: PayerView, asked: string): PayerOutcome {
  const number = receipts.find((one) => String(one) === asked);
  const invoiceId = periods.find((period) => period.number === number)?.invoiceId;
  return invoiceId === undefined ? { did: 'nothing' } : { did: 'receipt', invoiceId };
}

/** What was paid elsewhere, or cost nothing, has no paid invoice. */
async function receiptsOf(periods: readonly Period[], { db }: PayerPageDeps): Promise<number[]> {
  const numbers = periods.map(async ({ number, outcome, invoiceId }) => {
    const invoice = outcome === 'paid' && invoiceId !== undefined && (await loadInvoice(db, invoiceId));
    return invoice && (invoice.status === 'paid' || invoice.status === 'fulfilled') ? number : [];
  });
  return (await Promise.all(numbers)).flat();
}

async function newCard(view: PayerView, deps: PayerPageDeps): Promise<PayerOutcome> {
  const { customerId } = view.subscription.terms;
  if (customerId === undefined) return { did: 'nothing' };
  return { did: 'newCard', customerId, terms: await termsOfNewCard(view, deps) };
}

/**
 * The name makes one link of several clicks. Other subscriptions of the customer change the terms without a version here, and another
 * day has another link, because one does not live long.
 */
function agreement({ subscription, version, newTerms, now }: PayerView): PayerOutcome {
  if (!newTerms) return { did: 'nothing' };
  const { seriesId, after: terms } = newTerms;
  const hash = createHash('sha256')
    .update(JSON.stringify([seriesId, terms]))
    .digest('hex')
    .slice(0, 16);
  const named = [subscription.terms.id, version, now.slice(0, 10), hash].join('.');
  return { did: 'agree', seriesId, terms, named };
}
