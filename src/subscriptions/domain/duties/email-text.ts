// The text and HTML of an email about a subscription, in English and Russian.
import { epochMsOf, type Instant } from '../../../clock.ts';
import { givesAnyNumberAway } from '../../../cards/domain/card.ts';
import { emailPage, type EmailRow } from '../../../receipts/domain/email-page.ts';
import {
  moneyText,
  periodText,
  type Receipt,
  type ReceiptLanguage,
} from '../../../receipts/domain/receipt.ts';
import { scheduleInWords } from '../../../receipts/domain/schedule-words.ts';
import { dateText, dayOfDate } from '../../../retry-rules/domain/calendar.ts';
import { endWords } from '../end-words.ts';
import { emailWords, type EmailLabel } from './email-words.ts';
import type { EmailKind, EmailTopic } from './emails.ts';

/** As it is stored with its cause. */
export type EmailContent = EmailTopic & {
  readonly shopId: string;
  readonly language: ReceiptLanguage;
  readonly contact?: string;
  /** Of the consent that the payer can revoke by the link. */
  readonly seriesId?: string;
};

/** What only the node that sends it knows. */
export type EmailFrame = {
  readonly merchant: { readonly name: string; readonly site: string };
  /** Of the payer's page: it pays what is open, changes the card and ends the charges. */
  readonly pageUrl: string;
};

/** Of the version of the subscription before its cause. So no cause has two emails. */
export function emailIdOf(version: number, kind: EmailKind): string {
  return `${version}.${kind}`;
}

export function writeEmail(content: EmailContent, frame: EmailFrame): Receipt {
  const { language, kind } = content;
  const words = emailWords[language];
  const subject = oneLine(`${words.headings[kind]}: ${frame.merchant.name}`);
  const heading = words.headings[kind];
  const sentences = sentencesOf(content).map(oneLine);
  const rows = rowsOf(content, frame).map((row) => ({ ...row, value: oneLine(row.value) }));
  const lines = rows.map(
    ({ label, value, button }) => `${label}: ${button ? words.open(button.url) : value}`,
  );
  const text = [heading, '', ...sentences, '', ...lines, ''].join('\n');
  return { subject, text, html: emailPage({ language, subject, heading, sentences, rows }) };
}

function sentencesOf(content: EmailContent): string[] {
  const { language, kind, chargeAt, why, endedFor, declineClass, invoiceId } = content;
  const words = emailWords[language];
  const date = chargeAt && dateOf(chargeAt, content);
  const next = date === undefined ? words.noTry : words.nextTry(date);
  const toPay = invoiceId === undefined ? [] : [words.pay];
  switch (kind) {
    case 'started':
      return [words.started];
    case 'announced':
      return [words.announced[why ?? 'eachCharge'], words.howToStop];
    case 'declined':
    case 'reminder':
    case 'lastWarning': {
      const reason = declineClass === undefined ? undefined : words.declined[declineClass];
      return [words.unpaid[kind], ...(reason ? [reason] : []), next, ...toPay];
    }
    case 'notCollected':
      return [words.notCollected, ...toPay];
    case 'recovered':
      return [date === undefined ? words.paid : words.recovered];
    case 'newDates':
      return [words.newDates, words.howToStop];
    case 'ended': {
      const { [endedFor ?? 'merchant']: why, chargedNoMore } = endWords[language];
      return [why, chargedNoMore];
    }
  }
}

function rowsOf(content: EmailContent, { merchant, pageUrl }: EmailFrame): EmailRow[] {
  const { language, product, every, priceMinor, amountMinor, period, trialUntil, charges } = content;
  const { chargeAt, declineClass, paidThrough, contact, kind, invoiceId } = content;
  const words = emailWords[language];
  const money = (minor: bigint) => moneyText({ minor, currency: content.currency }, language);
  const rows: (readonly [EmailLabel, string | undefined])[] = [
    ['product', givesAnyNumberAway(product) ? undefined : product],
    ['amount', amountMinor === undefined ? undefined : money(amountMinor)],
    // That of a try is in the sentence about it.
    ['chargeAt', declineClass === undefined ? chargeAt && dateOf(chargeAt, content) : undefined],
    ['period', period && periodText(period, language)],
    [
      'trial',
      trialUntil === undefined ? undefined : words.trial(localDate(dayOfDate(trialUntil) - 1, language)),
    ],
    ['price', kind === 'ended' ? undefined : `${money(priceMinor)}, ${scheduleInWords(every, language)}`],
    [
      'lifetime',
      kind === 'started'
        ? charges === undefined
          ? words.untilCancelled
          : words.charges(charges)
        : undefined,
    ],
    ['paidThrough', paidThrough && dateOf(paidThrough, content)],
    ['merchant', [merchant.name, merchant.site, contact].filter(Boolean).join(', ')],
  ];
  const shown = rows.flatMap(([label, value]) =>
    value === undefined || value.trim() === '' ? [] : [{ label: words.labels[label], value }],
  );
  const button = (label: EmailLabel, text: string) => ({
    label: words.labels[label],
    value: pageUrl,
    button: { url: pageUrl, text },
  });
  return [
    ...shown,
    ...(invoiceId === undefined ? [] : [button('pay', words.payButton)]),
    ...(kind === 'ended' ? [] : [button('cancel', words.cancelButton)]),
  ];
}

function dateOf(at: Instant, { language, timeZone }: EmailContent): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone }).format(epochMsOf(at));
}

function localDate(day: number, language: ReceiptLanguage): string {
  const noon = Date.parse(`${dateText(day)}T12:00:00Z`);
  return new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(noon);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
