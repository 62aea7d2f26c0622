// The consent bundle as one printable HTML file without scripts. It shows nothing that the bundle does not contain.
import type { Instant } from '../../clock.ts';
import type { Currency } from '../../money.ts';
import type { AmountRule } from '../../receipts/domain/terms.ts';
import type { Mandate } from './mandate.ts';
import { escaped, moneyText } from '../../receipts/domain/receipt.ts';
import { scheduleInWords } from '../../receipts/domain/schedule-words.ts';
import type { SeriesFact, SeriesTerms } from './series.ts';

/** The members of a bundle that are shown. */
type ShownBundle = {
  readonly seriesId: string;
  readonly partyId: string;
  readonly shopId: string;
  readonly sealedAt: Instant;
  readonly entries: readonly {
    readonly sequence: number;
    readonly at: Instant;
    readonly facts: readonly SeriesFact[];
    readonly hash: string;
  }[];
  readonly publicKey: string;
  readonly signature: string;
};

type Row = readonly [label: string, value: string | undefined];

export function consentSheet(
  bundle: ShownBundle,
  shop?: { readonly name: string; readonly site: string },
): string {
  const started = bundle.entries[0]?.facts.find((fact) => fact.type === 'series_started');
  if (!started) throw new Error(`The bundle of series ${bundle.seriesId} does not start with a consent.`);
  const { terms } = started;
  const title = `Consent to recurring charges ${bundle.seriesId}`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escaped(title)}</title>
<style>${style}</style>
<h1>Consent to recurring charges</h1>
${section('Parties', [
  ['Series', bundle.seriesId],
  ['Shop', [shop?.name, shop?.site, `${bundle.partyId} / ${bundle.shopId}`].filter(Boolean).join(', ')],
  ['Card', `${terms.card.paymentSystem} •• ${terms.card.lastDigits}`],
  ...payerRows(terms.mandate),
])}
${section('Terms', termRows(terms))}
${section('Evidence', evidenceRows(terms.mandate))}
${section('First payment', paymentRows(terms))}
<section>
<h2>What has happened</h2>
<table class="log">
<thead><tr><th>No.</th><th>When</th><th>What</th><th>Details</th></tr></thead>
<tbody>
${bundle.entries.flatMap(logRows).join('\n')}
</tbody>
</table>
</section>
${section('Seal', [
  ['Sealed', moment(bundle.sealedAt)],
  ['Public key', bundle.publicKey],
  ['Signature', bundle.signature],
  ['Last entry', bundle.entries.at(-1)?.hash],
])}
<p>This page repeats a sealed file, which is the proof: <code>mandate consent verify FILE --sealed-by KEY</code> finds any change to it.</p>
</html>
`;
}

type Entry = { readonly sequence: number; readonly at: Instant; readonly facts: readonly SeriesFact[] };

function logRows({ sequence, at, facts }: Entry): string[] {
  const rows = facts.map((fact) => [String(sequence), moment(at), ...wordsOf(fact)]);
  return rows.map((cells) => `<tr>${cells.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`);
}

const style = `body{font:15px/1.45 system-ui,sans-serif;max-width:48em;margin:2em auto;padding:0 1em;color:#000;background:#fff}
h1{font-size:1.5em}h2{font-size:1.1em;margin:1.5em 0 .3em;break-after:avoid}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.25em .8em .25em 0;border-bottom:1px solid #ccc}
th[scope=row]{width:11em;font-weight:600}td{overflow-wrap:anywhere;white-space:pre-wrap}tr{break-inside:avoid}thead{display:table-header-group}
@page{margin:18mm}@media print{body{margin:0;max-width:none;font-size:10pt}section.whole{break-inside:avoid}}`;

function section(title: string, rows: readonly Row[]): string {
  const lines = rows.flatMap(([label, value]) =>
    value === undefined ? [] : [`<tr><th scope="row">${escaped(label)}</th><td>${escaped(value)}</td></tr>`],
  );
  return `<section class="whole">\n<h2>${escaped(title)}</h2>\n<table>\n${lines.join('\n')}\n</table>\n</section>`;
}

function payerRows({ payer }: Mandate): Row[] {
  const { ip, fingerprint, page, contactInfo } = payer;
  const contact = Object.entries(contactInfo).map(([name, value]) => `${name}: ${value}`);
  return [
    ['Payer', contact.length > 0 ? contact.join('\n') : undefined],
    ['Payer’s IP address', ip],
    ['Payer’s browser', fingerprint],
    ['Page', page],
  ];
}

function termRows({ mandate, endsAt }: SeriesTerms): Row[] {
  const { schedule, validUntil, amountRule, trialEnd, amountAfterTrialMinor, payment } = mandate;
  const { firstChargeOn, charges } = mandate;
  const { currency } = payment;
  return [
    ['Schedule', scheduleInWords(schedule, 'en')],
    ['Valid', validUntil === undefined ? 'until cancelled' : `until ${validUntil}`],
    ['Ends', endsAt && moment(endsAt)],
    ['Amounts', amountRule && amountsInWords(amountRule, currency)],
    ['Trial until', trialEnd],
    [
      'After the trial',
      amountAfterTrialMinor === undefined
        ? undefined
        : moneyText({ minor: BigInt(amountAfterTrialMinor), currency }, 'en'),
    ],
    ['First charge after the consent', firstChargeOn],
    ['Charges after the consent', charges?.toString()],
  ];
}

function amountsInWords(rule: AmountRule, currency: Currency): string {
  if (rule.kind === 'variable') return rule.text;
  const amount = moneyText({ minor: BigInt(rule.amountMinor), currency }, 'en');
  return rule.kind === 'fixed' ? amount : `up to ${amount}`;
}

function evidenceRows({ evidence, consent }: Mandate): Row[] {
  if (!consent) return [['Evidence', evidence === 'missing' ? 'none was sent with the payment' : evidence]];
  return [
    [
      'Evidence',
      consent.link === undefined ? 'attested by the merchant' : 'given on the page of a consent link',
    ],
    ['Consent link', consent.link],
    ['Text', consent.text],
    ['SHA-256 of the text', consent.textHash],
    ['Ticked', `by the payer, ${moment(consent.tickedAt)}`],
    ['Checkbox', consent.checkbox],
    ['Language', consent.locale],
    ['Version', consent.version],
    ['Received', consent.receivedAt && moment(consent.receivedAt)],
    ['Browser', consent.userAgent],
  ];
}

function paymentRows({ root, mandate, consentedAt }: SeriesTerms): Row[] {
  const { createdAt, amountMinor, currency, reference, approvalCode, eci, networkTransactionId } =
    mandate.payment;
  return [
    'customerId' in root
      ? ['Customer / binding', `${root.customerId} / ${root.bindingId}`]
      : ['Invoice / payment', `${root.invoiceId} / ${root.paymentId}`],
    ['Made', moment(createdAt)],
    ['Approved, payer present', moment(consentedAt)],
    ['Amount', moneyText({ minor: BigInt(amountMinor), currency }, 'en')],
    ['Reference', [reference, approvalCode].filter(Boolean).join(' / ')],
    ['Authentication (ECI)', eci],
    ['Network transaction', networkTransactionId],
  ];
}

function wordsOf(fact: SeriesFact): [what: string, details: string] {
  switch (fact.type) {
    case 'series_started':
      return ['Consent given', ''];
    case 'recurring_charge_started': {
      const { amount, isRetry, packs } = fact;
      const money = amount && moneyText({ minor: BigInt(amount.minor), currency: amount.currency }, 'en');
      const details = [`${fact.invoiceId} / ${fact.paymentId}`, money, `under ${packs.join(', ')}`];
      return [isRetry ? 'Charge retried' : 'Charge started', details.filter(Boolean).join('; ')];
    }
    case 'recurring_charge_succeeded':
      return ['Charge approved', `${fact.invoiceId} / ${fact.paymentId}`];
    case 'recurring_charge_failed': {
      const { network, code, advice } = fact.answer;
      const said = [network, code, advice && `advice ${advice}`].filter(Boolean).join(' ');
      return ['Charge failed', [`${fact.invoiceId} / ${fact.paymentId}`, said].filter(Boolean).join('; ')];
    }
    case 'recurring_charge_unsent':
      return ['Charge never sent', `${fact.invoiceId} / ${fact.paymentId}`];
    case 'obligation_ended':
      return ['Invoice no longer charged', fact.invoiceId];
    case 'series_stopped':
      return ['Stopped', `${fact.rule} of ${fact.pack}`];
    case 'consent_withdrawn':
      return ['Consent revoked', [`by the ${fact.by}`, fact.reason].filter(Boolean).join(': ')];
    case 'consent_renewed': {
      const { card, mandate } = fact;
      const rows = mandate ? [...evidenceRows(mandate), ...payerRows(mandate)] : [];
      const said = rows.flatMap(([label, value]) => (value === undefined ? [] : [`${label}: ${value}`]));
      return ['Consent renewed', [`card •• ${card.lastDigits}`, ...said].join('\n')];
    }
    case 'parent_added':
      return ['Charge became a parent', `${fact.invoiceId} / ${fact.paymentId}`];
    case 'notice_due':
      return ['Advance notice to the merchant', `${fact.notice.kind}, ${moment(fact.notice.about)}`];
  }
}

function moment(at: Instant): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
}
