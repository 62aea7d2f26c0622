// A merchant who asks for consent links, and payers who open some and agree.
import { externalId, recent, type Action } from './knowledge.ts';

const base = '/v2/processing';
const hourMs = 3_600_000;

export const consentLinkActions: readonly Action[] = [
  {
    name: 'look up a series',
    weight: 0.5,
    wish: (known, chance) => {
      const parent = recent(known.parents, chance);
      const customer = recent(known.customers, chance);
      const paths = [
        ...(parent ? [`invoices/${parent.invoiceId}/payments/${parent.paymentId}`] : []),
        ...(customer ? [`customers/${customer.id}`] : []),
      ];
      if (paths.length === 0) return undefined;
      return {
        method: 'GET',
        path: `${base}/${chance.oneOf(paths)}/recurring`,
        learn: ({ seriesID }) => void (known.series.includes(seriesID) || known.series.push(seriesID)),
      };
    },
  },
  {
    name: 'ask for new terms',
    weight: 0.5,
    wish: (known, chance, now) => {
      const seriesID = recent(known.series, chance);
      if (seriesID === undefined) return undefined;
      const amount = chance.oneOf([100, 60_000, 199_051]);
      const text = 'as the meter says';
      const rules = [
        { kind: 'fixed', amount },
        { kind: 'upTo', amount },
        { kind: 'variable', text },
      ];
      // Most live longer than the test clocks jump.
      const lifeMs = chance.oneOf([hourMs, 29 * 24 * hourMs, 29 * 24 * hourMs]);
      const expiresAt = new Date(Date.parse(now()) + lifeMs).toISOString();
      return {
        method: 'POST',
        path: `${base}/consent-links`,
        body: {
          seriesID,
          terms: {
            schedule: chance.oneOf(['P1M', 'P1W', 'when needed']),
            amountRule: chance.oneOf(rules),
            ...(chance.isTrue(0.3) ? { validUntil: '2035-12-31' } : {}),
          },
          ...(chance.isTrue(0.8) ? { expiresAt } : {}),
          ...externalId(known, chance),
        },
        learn: ({ id, url }) => known.consentLinks.push({ id, path: new URL(url).pathname }),
      };
    },
  },
  {
    name: 'open a consent link',
    weight: 0.7,
    wish: (known, chance) => {
      const link = recent(known.consentLinks, chance);
      if (!link) return undefined;
      return {
        method: 'GET',
        path: link.path,
        isOfPayer: true,
        learn: ({ textHash }) => void (link.textHash = textHash),
      };
    },
  },
  {
    name: 'agree to new terms',
    weight: 0.7,
    wish: (known, chance, now) => {
      const link = recent(
        known.consentLinks.filter(({ textHash }) => textHash !== undefined),
        chance,
      );
      if (!link) return undefined;
      const { path, textHash } = link;
      const body = { ticked: true, tickedAt: now(), textHash, locale: 'en', fingerprint: 'a browser' };
      return { method: 'POST', path, isOfPayer: true, body };
    },
  },
  {
    name: 'look at a consent link',
    weight: 0.5,
    wish: (known, chance) => {
      const link = recent(known.consentLinks, chance);
      if (!link) return undefined;
      const path = `${base}/consent-links/${link.id}`;
      return chance.isTrue(0.8) ? { method: 'GET', path } : { method: 'POST', path: `${path}/cancel` };
    },
  },
];
