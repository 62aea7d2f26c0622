// The page on which a payer looks after a subscription: what it is, what happens next, and a button for each thing they may do. It needs
// no script.
import { printedCard } from '../../../cards/domain/printed-card.ts';
import type { Money } from '../../../money.ts';
import { escaped, moneyText } from '../../../receipts/domain/receipt.ts';
import { scheduleInWords } from '../../../receipts/domain/schedule-words.ts';
import { dateText } from '../../../retry-rules/domain/calendar.ts';
import { localDayOf } from '../../../retry-rules/domain/time-zones.ts';
import { payableOf, type PayerAct } from '../../../subscriptions/domain/payer-acts.ts';
import type { PayerView } from '../../../subscriptions/domain/payer-view.ts';
import { sumOf } from '../../../subscriptions/domain/changes/proration.ts';
import { endWords } from '../../../subscriptions/domain/end-words.ts';
import {
  payerReasons,
  statusOf,
  type Item,
  type PayerReason,
  type Period,
} from '../../../subscriptions/domain/subscription.ts';
import type { Locale } from '../checkout-request.ts';
import { consentLinkText } from '../consent-link-text.ts';
import { consentLinkWords } from '../consent-link-words.ts';
import { printedDate } from '../consent-text.ts';
import { languageLink, mark, shopName, smallPrint, type Brand } from '../page-parts.ts';
import { fill, wordsIn } from '../translations.ts';
import { chargeInWords, hintsOf } from './subscription-hints.ts';
import { dateAndAmount, sentence, subscriptionWords, type Printed } from './subscription-words.ts';

export type SubscriptionShown = PayerView & {
  readonly shop: string;
  readonly isTest: boolean;
  readonly brand: Brand;
  /** For the forms. */
  readonly token: string;
  /** How the last act ended, if it did not do what it says. */
  readonly said?: 'outdated' | 'refused';
};

type Parts = { readonly title: string; readonly summary?: string; readonly content: string };

export function subscriptionParts(shown: SubscriptionShown, locale: Locale): Parts {
  const words = subscriptionWords[locale];
  const printed = printedIn(shown, locale);
  const { title } = words;
  const said = shown.said && `<p class="message shown" role="status">${escaped(words[shown.said])}</p>`;
  return {
    title: `${title} · ${shown.shop}`,
    summary: summary(shown, locale),
    content: [
      said ?? '',
      state(shown, printed),
      terms(shown, printed),
      newTerms(shown, printed),
      acts(shown, printed),
      reasons(shown, printed),
      history(shown, printed),
      smallPrint(shown.brand, wordsIn(locale)),
      languageLink(locale, {}),
    ].join('\n'),
  };
}

/** Of any link that opens nothing: whether it once did is for its payer alone. */
export function noSubscriptionParts(locale: Locale): Parts {
  const { noLinkHead, noLinkLead } = subscriptionWords[locale];
  return {
    title: noLinkHead,
    content: `${mark('stop')}<h1>${escaped(noLinkHead)}</h1><p>${escaped(noLinkLead)}</p>${languageLink(locale, {})}`,
  };
}

function printedIn({ subscription }: SubscriptionShown, locale: Locale): Printed {
  const { schedule, terms } = subscription;
  const zone = schedule?.zone ?? terms.schedule.zone;
  return {
    words: subscriptionWords[locale],
    locale,
    date: (at) => printedDate(dateText(localDayOf(at, zone)), locale),
    money: (minor) => moneyText({ minor, currency: terms.currency } satisfies Money, locale),
  };
}

function summary({ shop, isTest, brand, subscription }: SubscriptionShown, locale: Locale): string {
  const { testMode } = wordsIn(locale).page;
  return `<header class="summary">
${shopName(shop, brand)}
<h1 class="lead">${escaped(subscriptionWords[locale].title)}</h1>
<p class="product">${escaped(textOf(subscription.items))}</p>
${isTest ? `<p class="test"><span>${escaped(testMode)}</span></p>` : ''}
</header>`;
}

function textOf(items: readonly Item[]): string {
  return items
    .map(({ product, quantity }) => (quantity === 1n ? product : `${product} × ${quantity}`))
    .join(', ');
}

/** The state in words: a heading, and what it means for the payer. */
function stateText(shown: SubscriptionShown, printed: Printed): readonly [string, string] {
  const { subscription, shop, now } = shown;
  const { words, locale, date } = printed;
  const { latest, parkedFor, endsAfter, endedFor, open, paidThrough } = subscription;
  const status = statusOf(subscription);
  const of = (text: string) => fill(text, { shop });
  const charging = open[0]?.charging === undefined ? undefined : words.charging;
  if (status === 'ended') {
    const { [endedFor ?? 'merchant']: why, chargedNoMore } = endWords[locale];
    return [words.ended, `${why} ${charging ?? chargedNoMore}`];
  }
  if (parkedFor !== undefined) {
    const ends = endsAfter ? ` ${of(words.endAfterHold)}` : '';
    return [words.parked, `${of(words.parkedLead)}${ends}`];
  }
  if (endsAfter && latest) {
    const ending = latest.endsAt > now ? fill(words.ending, { date: date(latest.endsAt) }) : words.endingSoon;
    const due = open.length === 0 ? words.endingLead : `${words.endingLead} ${words.stillDue}`;
    return [ending, charging ?? due];
  }
  switch (status) {
    case 'incomplete':
      return [words.incomplete, words.incompleteLead];
    case 'trialing':
      return [words.trialing, latest ? sentence(words.trialingLead, { date: date(latest.endsAt) }) : ''];
    case 'active': {
      // Before its first period, the next charge says all.
      const unpaid = open.length === 0 ? '' : words.activeUnpaidLead;
      const paid =
        paidThrough === undefined ? unpaid : sentence(words.activeLead, { date: date(paidThrough) });
      return [words.active, charging ?? paid];
    }
    case 'pastDue':
      return [words.pastDue, charging ?? pastDueLead(shown, printed)];
    case 'unpaid':
      return [words.unpaid, charging ?? words.unpaidLead];
    case 'paused':
      return [words.paused, pausedLead(shown, printed)];
  }
}

function pastDueLead({ acts: offered, subscription }: SubscriptionShown, { words }: Printed): string {
  if (offered.includes('newCard')) return words.pastDueLead;
  return subscription.terms.customerId === undefined ? words.pastDueReplace : words.pastDuePay;
}

function pausedLead(
  { subscription: { pause, open }, shop }: SubscriptionShown,
  { words, date }: Printed,
): string {
  const by = { payer: 'pausedByPayer', merchant: 'pausedByMerchant', dunning: 'pausedByDunning' } as const;
  const resumesAt = pause?.resumesAt;
  return [
    fill(words[by[pause?.by ?? 'merchant']], { shop }),
    ...(open.length === 0 ? [] : [words.stillDue]),
    ...(resumesAt === undefined ? [] : [sentence(words.resumes, { date: date(resumesAt) })]),
  ].join(' ');
}

function state(shown: SubscriptionShown, printed: Printed): string {
  const [head, lead] = stateText(shown, printed);
  return `<h2>${escaped(head)}</h2>${lead === '' ? '' : `<p>${escaped(lead)}</p>`}`;
}

function terms(shown: SubscriptionShown, printed: Printed): string {
  const { words, locale, money } = printed;
  const { subscription, card, schedule, nextCharge } = shown;
  const { items, scheduledItems, open, phase } = subscription;
  const isRetry = open.some(({ declineClass }) => declineClass !== undefined);
  const next = nextCharge && chargeInWords(nextCharge, printed, isRetry ? words.nextTry : dateAndAmount);
  const rows: [string, string | undefined][] = [
    [words.price, money(sumOf(items))],
    [words.newPrice, scheduledItems && money(sumOf(scheduledItems))],
    [words.schedule, scheduleInWords(schedule, locale)],
    [words.next, phase === 'ended' ? undefined : (next ?? words.noNext)],
    [words.card, phase === 'ended' ? undefined : card ? printedCard(card) : words.noCard],
  ];
  const lines = rows.flatMap(([name, value]) =>
    value === undefined ? [] : [`<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`],
  );
  return `<dl class="receipt">${lines.join('')}</dl>`;
}

/** What changes, old and new. They agree on a page of its own. */
function newTerms(
  { newTerms: asked, subscription, card, shop }: SubscriptionShown,
  { words, locale }: Printed,
) {
  if (!asked) return '';
  const { before, after } = asked;
  const { currency } = subscription.terms;
  const compared = { shop, currency, before, after, lastDigits: card?.lastDigits ?? '', isMailed: false };
  const rows = consentLinkText(compared, locale).rows.filter(({ isChanged }) => isChanged);
  const line = (name: string, side: 'before' | 'after') =>
    `<dt>${escaped(name)}</dt><dd>${escaped(rows.map((row) => row[side]).join(', '))}</dd>`;
  const names = consentLinkWords[locale];
  return `<h2>${escaped(names.title)}</h2><p>${escaped(fill(words.newTermsLead, { shop }))}</p>
<dl class="receipt">${line(names.before, 'before')}${line(names.after, 'after')}</dl>`;
}

/** A question after the act. Without an answer the page does all it does otherwise. */
function reasons({ acts: offered, token, subscription }: SubscriptionShown, { words }: Printed): string {
  if (subscription.payerReason !== undefined) return `<p role="status">${escaped(words.thanks)}</p>`;
  if (!offered.includes('reason')) return '';
  const button = (reason: PayerReason) =>
    `<p class="row"><button class="quiet" name="reason" value="${reason}">${escaped(words[reason])}</button></p>`;
  return `<form method="post" aria-labelledby="why"><h2 id="why">${escaped(words.why)}</h2><input type="hidden" name="token" value="${escaped(token)}">
<input type="hidden" name="act" value="reason">${payerReasons.map(button).join('')}</form>`;
}

/** One form, so that the page has one token. */
function acts(shown: SubscriptionShown, printed: Printed): string {
  const { acts: all, token, subscription } = shown;
  const offered = all.filter((act) => act !== 'reason');
  if (offered.length === 0) return '';
  const { words, money } = printed;
  const texts: Readonly<Record<Exclude<PayerAct, 'reason'>, string>> = {
    agree: words.agree,
    pay: fill(words.pay, { amount: money(payableOf(subscription)?.amountMinor ?? 0n) }),
    newCard: words.newCard,
    pause: words.pause,
    resume: words.resume,
    end: words.end,
    takeBack: words.takeBack,
  };
  const hints = hintsOf(shown, printed);
  const button = (act: keyof typeof texts, look: string) => {
    const hint = hints[act];
    const described = hint === undefined ? '' : ` aria-describedby="${act}-hint"`;
    return `<p class="row"><button class="${look}" name="act" value="${act}"${described}>${escaped(texts[act])}</button></p>${
      hint === undefined ? '' : `<p id="${act}-hint" class="hint">${escaped(hint)}</p>`
    }`;
  };
  const first = main(offered, shown);
  return `<form method="post"><input type="hidden" name="token" value="${escaped(token)}">
${first ? button(first, 'main') : ''}
${offered
  .filter((act) => act !== first)
  .map((act) => button(act, 'quiet'))
  .join('')}
</form>`;
}

/** What most payers come for is the one large button, if there is such a thing. A new card also pays what the old one cannot. */
function main(offered: readonly PayerAct[], { subscription: { open }, outlook: { newCard } }: PayerView) {
  const replaces = open[0]?.declineClass === 'newCard' && newCard && newCard.waitsFor === undefined;
  const acts = ['agree', ...(replaces ? (['newCard'] as const) : []), 'pay', 'takeBack', 'resume'] as const;
  return acts.find((act) => offered.includes(act));
}

/** What is paid leads to its receipt. */
function history({ periods, receipts, token }: SubscriptionShown, { words, locale, money }: Printed): string {
  if (periods.length === 0) return '';
  const line = ({ number, startsOn, amountMinor, outcome }: Period) => {
    const costs = amountMinor > 0n ? `${money(amountMinor)}, ` : '';
    const isFree = costs === '' && outcome === 'paid';
    const name = isFree ? 'free' : outcome === 'unpaid' ? 'unpaidPeriod' : outcome;
    const receipt = receipts.includes(number)
      ? ` <button class="quiet" name="receipt" value="${number}">${escaped(words.receipt)}</button>`
      : '';
    return `<li><span>${escaped(printedDate(startsOn, locale))}</span><span>${escaped(costs + words[name])}${receipt}</span></li>`;
  };
  const list = `<ul>${periods.map(line).join('')}</ul>`;
  const form = `<form method="post"><input type="hidden" name="token" value="${escaped(token)}">${list}</form>`;
  return `<details class="details"><summary>${escaped(words.history)}</summary>${receipts.length > 0 ? form : list}</details>`;
}
