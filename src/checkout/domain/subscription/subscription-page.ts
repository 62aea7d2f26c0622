// The page on which a payer looks after a subscription: what it is, what happens next, and a button for each thing they may do. It needs
// no script.
import { printedCard } from '../../../cards/domain/printed-card.ts';
import type { Money } from '../../../money.ts';
import { escaped, moneyText } from '../../../receipts/domain/receipt.ts';
import { scheduleInWords } from '../../../receipts/domain/schedule-words.ts';
import { dateText } from '../../../retry-rules/domain/calendar.ts';
import { localDayOf } from '../../../retry-rules/domain/time-zones.ts';
import { payableOf, type PayerAct, type PayerView } from '../../../subscriptions/domain/payer-acts.ts';
import { sumOf } from '../../../subscriptions/domain/changes/proration.ts';
import { endWords } from '../../../subscriptions/domain/end-words.ts';
import { statusOf, type Item, type Period } from '../../../subscriptions/domain/subscription.ts';
import type { Locale } from '../checkout-request.ts';
import { printedDate } from '../consent-text.ts';
import { languageLink, mark, shopName, smallPrint, type Brand } from '../page-parts.ts';
import { fill, wordsIn } from '../translations.ts';
import { hintsOf } from './subscription-hints.ts';
import { sentence, subscriptionWords, type Printed } from './subscription-words.ts';

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
      acts(shown, printed),
      history(shown.periods, printed),
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
  const { subscription, shop, now, acts } = shown;
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
      return [words.pastDue, charging ?? (acts.includes('newCard') ? words.pastDueLead : words.pastDuePay)];
    case 'unpaid':
      return [words.unpaid, charging ?? words.unpaidLead];
    case 'paused':
      return [words.paused, pausedLead(shown, printed)];
  }
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

function terms(shown: SubscriptionShown, { words, locale, date, money }: Printed): string {
  const { subscription, card, schedule, nextCharge } = shown;
  const { items, scheduledItems, open, phase } = subscription;
  const isRetry = open.some(({ declineClass }) => declineClass !== undefined);
  const charge = nextCharge && { date: date(nextCharge.at), amount: money(nextCharge.amountMinor) };
  const next = charge && (isRetry ? fill(words.nextTry, charge) : `${charge.date}: ${charge.amount}`);
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

/** One form, so that the page has one token. */
function acts(shown: SubscriptionShown, printed: Printed): string {
  const { acts: offered, token, subscription } = shown;
  if (offered.length === 0) return '';
  const { words, money } = printed;
  const texts: Readonly<Record<PayerAct, string>> = {
    pay: fill(words.pay, { amount: money(payableOf(subscription)?.amountMinor ?? 0n) }),
    newCard: words.newCard,
    pause: words.pause,
    resume: words.resume,
    end: words.end,
    takeBack: words.takeBack,
  };
  const hints = hintsOf(shown, printed);
  const button = (act: PayerAct, look: string) => {
    const hint = hints[act];
    const described = hint === undefined ? '' : ` aria-describedby="${act}-hint"`;
    return `<p class="row"><button class="${look}" name="act" value="${act}"${described}>${escaped(texts[act])}</button></p>${
      hint === undefined ? '' : `<p id="${act}-hint" class="hint">${escaped(hint)}</p>`
    }`;
  };
  const first = main(offered);
  return `<form method="post"><input type="hidden" name="token" value="${escaped(token)}">
${first ? button(first, 'main') : ''}
${offered
  .filter((act) => act !== first)
  .map((act) => button(act, 'quiet'))
  .join('')}
</form>`;
}

/** What most payers come for is the one large button, if there is such a thing. */
function main(offered: readonly PayerAct[]): PayerAct | undefined {
  return (['pay', 'takeBack', 'resume'] as const).find((act) => offered.includes(act));
}

function history(periods: readonly Period[], { words, locale, money }: Printed): string {
  if (periods.length === 0) return '';
  const line = ({ startsOn, amountMinor, outcome }: Period) => {
    const costs = amountMinor > 0n ? `${money(amountMinor)}, ` : '';
    const isFree = costs === '' && outcome === 'paid';
    const name = isFree ? 'free' : outcome === 'unpaid' ? 'unpaidPeriod' : outcome;
    return `<li><span>${escaped(printedDate(startsOn, locale))}</span><span>${escaped(costs + words[name])}</span></li>`;
  };
  return `<details class="details"><summary>${escaped(words.history)}</summary><ul>${periods.map(line).join('')}</ul></details>`;
}
