// A consent is renewed by a link only after the payer ticked its box, confirmed with their bank and has the small charge back.
// The new mandate is the link's terms.
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Fact } from '../rows.ts';
import type { Check, Problem, Seen } from '../check.ts';

export const renewals: Check = {
  name: 'renewals',
  says: 'a consent is renewed with the terms of its link, after a tick, an authentication and a refunded charge',
  find: (seen) => [
    ...[...seen.histories].flatMap(([id, { facts }]) =>
      facts.flatMap((fact) => (linkIn(fact) === undefined ? [] : renewedWrongly(seen, id, fact))),
    ),
    ...seen.books.consentLinks.flatMap((link) => lost(seen, link)),
  ],
};

type Mandate = {
  readonly consent?: Readonly<Record<string, unknown>>;
  readonly payment?: { readonly eci?: string };
} & Readonly<Record<string, unknown>>;

function mandateIn(fact: Fact): Mandate {
  return (fact['mandate'] ?? {}) as Mandate;
}

function linkIn(fact: Fact): string | undefined {
  if (fact.type !== 'consent_renewed') return undefined;
  return mandateIn(fact).consent?.['link'] as string | undefined;
}

function renewedWrongly({ books, histories, bank }: Seen, seriesId: string, fact: Fact): Problem[] {
  const about = `series ${seriesId}`;
  const link = books.consentLinks.find((one) => one.consent_link_id === linkIn(fact));
  if (!link) return [[about, 'it was renewed by a link that is not its own']];
  const { consent = {}, payer: _payer, payment, evidence: _evidence, ...terms } = mandateIn(fact);
  const problems: Problem[] = [];
  if (!isDeepStrictEqual(terms, { ...link.terms }))
    problems.push([about, `it was renewed with ${JSON.stringify(terms)}, not ${JSON.stringify(link.terms)}`]);
  const { text, textHash, ticked, tickedAt, receivedAt, userAgent } = consent;
  const hash = createHash('sha256').update(String(text)).digest('hex');
  if (ticked !== true || tickedAt === undefined || receivedAt === undefined || userAgent === undefined)
    problems.push([about, 'it was renewed without the tick']);
  if (textHash !== hash) problems.push([about, 'the hash is not that of the text']);
  if (payment?.eci === undefined) problems.push([about, 'it was renewed without an authentication']);
  const { customer_id: customerId, binding_id: bindingId } = link;
  const customer = histories.get(customerId ?? '');
  // Read only when it changed, too.
  if (!customer) return problems;
  const binding = `${customerId}.${bindingId}`;
  if (customer.objects.get(`binding ${binding}`)?.status !== 'withdrawn')
    problems.push([about, `it was renewed, and binding ${binding} has not ended with success`]);
  const lines = (bank.get(customerId ?? '') ?? []).filter(({ operationId }) =>
    operationId.startsWith(`${binding}.`),
  );
  const sum = lines.reduce((total, { amount, sign }) => total + amount * sign, 0);
  if (lines.length < 2 || sum !== 0) problems.push([about, `the charge of ${binding} was not refunded`]);
  return problems;
}

/** A check that succeeded has renewed the consent, once. */
function lost({ histories }: Seen, link: Seen['books']['consentLinks'][number]): Problem[] {
  const series = histories.get(link.series_id);
  const binding = histories
    .get(link.customer_id ?? '')
    ?.objects.get(`binding ${link.customer_id}.${link.binding_id}`);
  if (!series || binding?.status !== 'withdrawn') return [];
  const times = series.facts.filter((fact) => linkIn(fact) === link.consent_link_id).length;
  return times === 1
    ? []
    : [
        [
          `series ${link.series_id}`,
          `link ${link.consent_link_id} was confirmed, and renewed it ${times} times`,
        ],
      ];
}
