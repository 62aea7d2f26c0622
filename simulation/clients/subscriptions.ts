// A merchant who sells subscriptions to customers with a saved card.
import { externalId, recent, type Action } from './knowledge.ts';

const base = '/v2/processing';
const dayMs = 24 * 3_600_000;
/** Worlds of fixed seeds stay as they are until a theme of subscriptions has weights of its own. */
const unweighted = 0;

export const subscriptionActions: readonly Action[] = [
  {
    name: 'subscribe',
    weight: unweighted,
    wish: (known, chance) => {
      const customer = recent(known.customers, chance);
      if (!customer) return undefined;
      return {
        method: 'POST',
        path: `${base}/subscriptions`,
        body: {
          customerID: customer.id,
          items: [{ product: 'Tea', price: chance.oneOf([100, 49_900, 199_051]), quantity: 1 }],
          every: chance.oneOf(['P3D', 'P1W', 'P1M', 'P1M']),
          timeZone: chance.oneOf(['UTC', 'Europe/Moscow', 'America/New_York']),
          catchUp: chance.oneOf(['current', 'all', 'none']),
          ifUnpaid: chance.oneOf(['unpaid', 'end', 'pause']),
          ...(chance.isTrue(0.2) ? { trialDays: 7 } : {}),
          ...(chance.isTrue(0.2) ? { periods: 3 } : {}),
          ...externalId(known, chance),
        },
        learn: ({ id }) => known.subscriptions.push(id),
      };
    },
  },
  {
    name: 'change a subscription',
    weight: unweighted,
    wish: (known, chance, now) => {
      const id = recent(known.subscriptions, chance);
      if (id === undefined) return undefined;
      const resumesAt = new Date(Date.parse(now()) + 10 * dayMs).toISOString();
      const [verb, body] = chance.oneOf<[string, Record<string, unknown> | undefined]>([
        ['cancel', { when: chance.oneOf(['now', 'periodEnd']) }],
        ['pause', { openPeriods: chance.oneOf(['keepTrying', 'forgive']) }],
        ['pause', { resumesAt }],
        ['resume', undefined],
        ['resume', undefined],
        ['uncancel', undefined],
        ['periods/1/charge', { afterDays: chance.oneOf([0, 2]) }],
        ['periods/1/close', { as: chance.oneOf(['forgiven', 'paidElsewhere']) }],
      ]);
      return { method: 'POST', path: `${base}/subscriptions/${id}/${verb}`, ...(body ? { body } : {}) };
    },
  },
  {
    name: 'look at subscriptions',
    weight: unweighted,
    wish: (known, chance) => {
      const id = recent(known.subscriptions, chance);
      const customer = recent(known.customers, chance);
      if (id === undefined || !customer) return undefined;
      const path = chance.oneOf([
        `subscriptions/${id}`,
        `subscriptions/${id}/periods?limit=5`,
        `subscriptions/${id}/upcoming`,
        `subscriptions?externalID=own-1`,
        `customers/${customer.id}/subscriptions`,
      ]);
      return { method: 'GET', path: `${base}/${path}` };
    },
  },
];
