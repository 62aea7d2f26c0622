// The receipt of a payment, as text and HTML, in English and Russian. Its linter requires marker, schedule, lifetime and the way to cancel
// of a recurring one, and refuses them in a one-off one.
import { givesAnyNumberAway } from '../../cards/domain/card.ts';
import { printedCard } from '../../cards/domain/printed-card.ts';
import { dayMs, epochMsOf, type Instant } from '../../clock.ts';
import { decimalsOf, type Money } from '../../money.ts';
import { emailPage } from './email-page.ts';
import { printMoney } from './format-money.ts';
import { asAgreedIn, scheduleInWords } from './schedule-words.ts';
import type { MandateTerms } from './terms.ts';

export { escaped } from './email-page.ts';

export const receiptLanguages = ['en', 'ru'] as const;
export type ReceiptLanguage = (typeof receiptLanguages)[number];

export type ReceiptFacts = {
  readonly language: ReceiptLanguage;
  readonly merchant: { readonly name: string; readonly site: string; readonly contact?: string };
  readonly amount: Money;
  readonly at: Instant;
  /** Of the shop. An email that an older node has stored has none: UTC. */
  readonly timeZone?: string;
  /** What was bought, if it was an invoice. */
  readonly product?: string;
  /** Of a subscription: local dates. The last one is no more in it. */
  readonly period?: { readonly startsOn: string; readonly endsOn: string };
  readonly card: { readonly paymentSystem: string; readonly lastDigits: string };
  readonly invoiceId: string;
  readonly paymentId: string;
  readonly reference: string;
  readonly approvalCode?: string;
  /** Absent for a one-off payment. */
  readonly recurring?: {
    readonly mandate: MandateTerms & { readonly schedule: string };
    /** The link with which the payer ends the charges. */
    readonly cancelUrl: string;
  };
};

export type ReceiptKind = 'recurring' | 'oneOff';

export type Receipt = { readonly subject: string; readonly text: string; readonly html: string };

/** Never only translated: auditors search a receipt for these words. */
const marker = 'recurring transaction';

type Words = {
  readonly subject: (merchant: string) => string;
  readonly oneOff: string;
  /** Of a receipt over nothing: the payer has agreed to new terms. */
  readonly newTerms: (merchant: string) => string;
  readonly marker: string;
  readonly labels: Readonly<Record<Label, string>>;
  readonly untilCancelled: string;
  readonly until: (date: string) => string;
  readonly asAgreed: string;
  readonly upTo: (amount: string) => string;
  readonly trial: (date: string, after: string | undefined) => string;
  readonly charges: (count: number | undefined, from: string | undefined) => string;
  readonly how: (url: string) => string;
  /** On the button. */
  readonly end: string;
};
type Label =
  | 'schedule'
  | 'lifetime'
  | 'charges'
  | 'product'
  | 'period'
  | 'amount'
  | 'later'
  | 'trial'
  | 'date'
  | 'merchant'
  | 'card'
  | 'payment'
  | 'reference'
  | 'cancel';

const words: Record<ReceiptLanguage, Words> = {
  en: {
    subject: (merchant) => `Receipt: ${marker}, ${merchant}`,
    oneOff: 'Receipt',
    newTerms: (merchant) => `New terms: ${marker}, ${merchant}`,
    marker,
    labels: {
      schedule: 'Schedule',
      lifetime: 'Valid',
      charges: 'Agreed charges',
      product: 'For',
      period: 'Period',
      amount: 'Amount',
      later: 'Later amounts',
      trial: 'Trial',
      date: 'Date',
      merchant: 'Merchant',
      card: 'Card',
      payment: 'Payment',
      reference: 'Reference',
      cancel: 'To cancel',
    },
    untilCancelled: 'until cancelled',
    until: (date) => `until ${date}`,
    asAgreed: asAgreedIn.en,
    upTo: (amount) => `up to ${amount}`,
    trial: (date, after) => (after === undefined ? `until ${date}` : `until ${date}, then ${after}`),
    charges: (count, from) => [count, from && `from ${from}`].filter((part) => part !== undefined).join(', '),
    how: (url) => `open ${url}`,
    end: 'End recurring charges',
  },
  ru: {
    subject: (merchant) => `Чек: регулярный платёж (${marker}), ${merchant}`,
    oneOff: 'Чек',
    newTerms: (merchant) => `Новые условия: регулярный платёж (${marker}), ${merchant}`,
    marker: `${marker} (регулярный платёж)`,
    labels: {
      schedule: 'Расписание',
      lifetime: 'Срок действия',
      charges: 'Согласованные списания',
      product: 'За что',
      period: 'Период',
      amount: 'Сумма',
      later: 'Следующие суммы',
      trial: 'Пробный период',
      date: 'Дата',
      merchant: 'Продавец',
      card: 'Карта',
      payment: 'Платёж',
      reference: 'Номер операции',
      cancel: 'Чтобы отказаться',
    },
    untilCancelled: 'до отмены (until cancelled)',
    until: (date) => `до ${date} (until ${date})`,
    asAgreed: asAgreedIn.ru,
    upTo: (amount) => `до ${amount}`,
    trial: (date, after) => (after === undefined ? `до ${date}` : `до ${date}, затем ${after}`),
    charges: (count, from) => [count, from && `с ${from}`].filter((part) => part !== undefined).join(', '),
    how: (url) => `откройте ${url}`,
    end: 'Прекратить списания',
  },
};

export function receiptOf(facts: ReceiptFacts): Receipt {
  const said = words[facts.language];
  const lines = linesOf(facts, said);
  const subject = subjectOf(facts, said);
  const heading = facts.recurring ? said.marker : said.oneOff;
  const text = [heading, '', ...lines.map(([label, value]) => `${said.labels[label]}: ${value}`), ''].join(
    '\n',
  );
  const rows = lines.map(([label, value]) => ({
    label: said.labels[label],
    value,
    ...(label === 'cancel' ? { button: { url: facts.recurring?.cancelUrl ?? '', text: said.end } } : {}),
  }));
  const html = emailPage({ language: facts.language, subject, heading, rows });
  const receipt = { subject, text, html };
  const problems = receiptProblems(receipt, facts.language, facts.recurring ? 'recurring' : 'oneOff');
  if (problems.length > 0) throw new Error(`The receipt breaks the rules: ${problems.join(' ')}`);
  return receipt;
}

function subjectOf({ recurring, amount, merchant: { name } }: ReceiptFacts, said: Words): string {
  if (!recurring) return `${said.oneOff}: ${name}`;
  return (amount.minor > 0n ? said.subject : said.newTerms)(name);
}

function linesOf(facts: ReceiptFacts, said: Words): (readonly [Label, string])[] {
  const { merchant, amount, product = '', period, recurring, card, approvalCode } = facts;
  const lines: (readonly [Label, string])[] = [
    ...(recurring ? agreedLines(facts, recurring.mandate, said) : []),
    ...(hasNothingToShow(product) ? [] : ([['product', product]] as const)),
    ...(period ? ([['period', periodText(period, facts.language)]] as const) : []),
    ['amount', moneyText(amount, facts.language)],
    ...(recurring ? laterLines(facts, recurring.mandate, said) : []),
    ['date', localTime(facts)],
    ['merchant', [merchant.name, merchant.site, merchant.contact].filter(Boolean).join(', ')],
    ['card', printedCard(card)],
    ['payment', `${facts.invoiceId} / ${facts.paymentId}`],
    ['reference', [facts.reference, approvalCode].filter(Boolean).join(' / ')],
    ...(recurring ? ([['cancel', said.how(recurring.cancelUrl)]] as const) : []),
  ];
  return lines.map(([label, value]) => [label, value.replace(/\s+/g, ' ').trim()]);
}

/** Its first and its last day. */
export function periodText(
  { startsOn, endsOn }: NonNullable<ReceiptFacts['period']>,
  language: ReceiptLanguage,
): string {
  const { date } = clockOf('UTC', language);
  const days = [Date.parse(startsOn), Date.parse(endsOn) - dayMs];
  return days.map((day) => date.format(day)).join(' – ');
}

type Agreed = NonNullable<ReceiptFacts['recurring']>['mandate'];

function agreedLines(
  { language }: ReceiptFacts,
  { schedule, validUntil, firstChargeOn, charges }: Agreed,
  said: Words,
): (readonly [Label, string])[] {
  const hasCharges = firstChargeOn !== undefined || charges !== undefined;
  return [
    ['schedule', shown(scheduleInWords(schedule, language), said)],
    ['lifetime', validUntil === undefined ? said.untilCancelled : said.until(validUntil)],
    ...(hasCharges ? ([['charges', said.charges(charges, firstChargeOn)]] as const) : []),
  ];
}

function laterLines(
  { amount, language }: ReceiptFacts,
  { amountRule, trialEnd, amountAfterTrialMinor }: Agreed,
  said: Words,
): (readonly [Label, string])[] {
  const money = (minor: number) => moneyText({ ...amount, minor: BigInt(minor) }, language);
  const after = amountAfterTrialMinor === undefined ? undefined : money(amountAfterTrialMinor);
  const trial = trialEnd === undefined ? [] : ([['trial', said.trial(trialEnd, after)]] as const);
  const later =
    amountRule === undefined
      ? []
      : amountRule.kind === 'variable'
        ? ([['later', shown(amountRule.text, said)]] as const)
        : ([['later', laterAmount(amountRule, money, said)]] as const);
  return [...later, ...trial];
}

/** Such words are now rejected, but older terms may have them. */
function shown(agreed: string, said: Words): string {
  return hasNothingToShow(agreed) ? said.asAgreed : agreed;
}

function hasNothingToShow(stored: string): boolean {
  return stored.trim() === '' || givesAnyNumberAway(stored);
}

/** `January 19, 2026, 1:00 PM GMT+3`. */
function localTime({ at, timeZone = 'UTC', language }: ReceiptFacts): string {
  const ms = epochMsOf(at);
  const { date, time } = clockOf(timeZone, language);
  return `${date.format(ms)}, ${time.format(ms)}`;
}

type LocalClock = { readonly date: Intl.DateTimeFormat; readonly time: Intl.DateTimeFormat };
/** Kept, because making one costs more than the rest of a receipt. There are as many as zones of shops. */
const clocks = new Map<string, LocalClock>();

function clockOf(timeZone: string, language: ReceiptLanguage): LocalClock {
  const name = `${language} ${timeZone}`;
  const known = clocks.get(name);
  if (known) return known;
  const shown = { hour: 'numeric', minute: '2-digit', timeZoneName: 'short' } as const;
  const clock = {
    date: new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone }),
    time: new Intl.DateTimeFormat(language, { ...shown, timeZone }),
  };
  clocks.set(name, clock);
  return clock;
}

function laterAmount(
  rule: { readonly kind: 'fixed' | 'upTo'; readonly amountMinor: number },
  money: (minor: number) => string,
  said: Words,
): string {
  const text = money(rule.amountMinor);
  return rule.kind === 'fixed' ? text : said.upTo(text);
}

export function moneyText({ minor, currency }: Money, language: ReceiptLanguage): string {
  return printMoney({ amountMinor: Number(minor), currency, minorDigits: decimalsOf(currency) }, language);
}

/** The problems of a receipt, in its text and in its HTML. */
export function receiptProblems(
  { text, html }: Pick<Receipt, 'text' | 'html'>,
  language: ReceiptLanguage,
  kind: ReceiptKind,
): string[] {
  return [text, textOfPage(html)].flatMap((written) => problemsOf(written, language, kind));
}

/** All foreign text is escaped, so each `<` belongs to a tag of the template. */
function textOfPage(html: string): string {
  return html.replace(/<style>.*?<\/style>|<[^>]*>/gs, (tag) => (tag === '</th>' ? ': ' : ''));
}

function problemsOf(text: string, language: ReceiptLanguage, kind: ReceiptKind): string[] {
  return partsIn[language].flatMap(([part, pattern]) => {
    if (pattern.test(text) === (kind === 'recurring')) return [];
    return [`The ${part} ${kind === 'recurring' ? 'is missing' : 'belongs to recurring payments'}.`];
  });
}

type Part = readonly [name: string, pattern: RegExp];
const partsIn: Readonly<Record<ReceiptLanguage, readonly Part[]>> = { en: partsOf('en'), ru: partsOf('ru') };

/** Each at the start of its line: what a shop or a product is called proves nothing. */
function partsOf(language: ReceiptLanguage): readonly Part[] {
  const { labels } = words[language];
  const line = (label: Label, value = '\\S') => new RegExp(`^${labels[label]}: ${value}`, 'm');
  return [
    [`marker "${marker}"`, new RegExp(`^${marker}`, 'm')],
    ['schedule', line('schedule')],
    ['lifetime', line('lifetime', '.*until (cancelled|\\d{4}-\\d{2}-\\d{2})')],
    ['way to cancel', line('cancel')],
  ];
}
