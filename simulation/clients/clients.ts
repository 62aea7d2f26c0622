// Clients of the API, whose requests are mostly sensible, sometimes contradictory, sometimes wrong.
// They repeat requests under the same Idempotency-Key, without a response and with one, and send some twice at the same time.
import type { Acknowledged } from '../checks/world.ts';
import type { Unwritten } from '../checks/clients/unavailable.ts';
import { chanceOf, type Chance } from '../world/chance.ts';
import { knownTo, type Action, type ClockMove, type Knowledge, type Wish } from './knowledge.ts';
import { webhookActions } from './webhooks.ts';
import { readActions } from './reads.ts';
import { consentLinkActions } from './consent-links.ts';
import { subscriptionActions } from './subscriptions.ts';
import { templateActions } from './templates.ts';
import { customerActions } from './customers.ts';
import { shopActions, smoothShopActions } from './shop.ts';
import type { Theme } from './themes.ts';
import { billsTogether, wishesTogether } from './together.ts';
import { walletActions } from './wallets.ts';
import { defined } from '../../src/defined.ts';

export type Request = Wish & {
  /** Text for the trace. */
  readonly what: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Set for requests with an Idempotency-Key. */
  readonly repeatable?: Acknowledged['repeatable'];
  /** By which what it writes is found. */
  readonly marks: readonly Unwritten[];
};

export type Clients = {
  join(merchant: { readonly partyId: string; readonly apiKey: string }): void;
  /** The next request that creates what the theme needs; undefined when everything is there. */
  beginning(now: () => string): Request | undefined;
  /** The next request of any client, or several that arrive together. */
  next(now: () => string): readonly Request[];
  /** Takes the response to a request; undefined when none came. */
  hear(request: Request, answer: { readonly status: number; readonly body: unknown } | undefined): void;
  clockMoves(): readonly ClockMove[];
};

export const actions: readonly Action[] = [
  ...readActions,
  ...shopActions,
  ...smoothShopActions,
  ...customerActions,
  ...consentLinkActions,
  ...subscriptionActions,
  ...templateActions,
  ...walletActions,
  ...webhookActions,
];
export const actionNames = [...actions.map(({ name }) => name), billsTogether];
const remembered = 20;
const formType = 'application/x-www-form-urlencoded';
/** A day less than a key is kept, because clocks differ. */
const almostAWeekMs = 6 * 24 * 3_600_000;
/** How many of each object a merchant starts with. */
const atFirst = 2;

export function openClients(options: {
  chance: Chance;
  /** For requests that arrive together. */
  crowds: Chance;
  theme: Theme;
  /** Names of actions. */
  without: readonly string[];
}): Clients {
  const { chance, crowds, theme, without } = options;
  const merchants: Knowledge[] = [];
  /** Requests to repeat. */
  let unanswered: Request[] = [];
  const answered: Request[] = [];
  /** A second, separate request for the same thing while the first is in progress. */
  const twice: { readonly known: Knowledge; readonly action: Action; readonly wish: Wish }[] = [];
  const possible = actions
    .filter(({ name }) => !without.includes(name))
    .map((action) => ({
      ...action,
      weight: action.weight * (theme.likelier[action.name] ?? theme.otherwise),
    }));
  let asked = 0;
  const crowded = without.includes(billsTogether)
    ? 0
    : 0.02 * (theme.likelier['charge without the payer'] ?? theme.otherwise);
  const strangers = chanceOf(chance.below(2 ** 31), 'unknown members');

  function spoiled(wish: Wish): Wish {
    const { body } = wish;
    const ways = [
      () => ({ ...wish, path: `${wish.path.replace(/\?.*/, '')}x` }),
      () => ({ ...wish, token: merchants.find(({ apiKey }) => apiKey !== wish.token)?.apiKey ?? 'unknown' }),
      () => ({ ...wish, token: 'unknown' }),
      ...(body
        ? [
            () => ({ ...wish, body: lacking(body, chance.oneOf(Object.keys(body))) }),
            () => ({
              ...wish,
              body: { ...body, [chance.oneOf(Object.keys(body))]: chance.oneOf(wrongValues) },
            }),
          ]
        : []),
    ];
    return chance.oneOf(ways)();
  }

  function requestOf(
    known: Knowledge,
    action: Pick<Action, 'name'>,
    wish: Wish,
    firstAskedAt: string,
    mayHaveKey = true,
  ): Request {
    const { isOfPayer = false } = wish;
    const hasKey = mayHaveKey && wish.method === 'POST' && !isOfPayer && chance.isTrue(0.6);
    const key = hasKey ? `key-${++asked}` : undefined;
    return {
      ...wish,
      what: `${action.name}: ${wish.method} ${wish.path}`,
      headers: {
        'x-request-id': `request-${++asked}`,
        ...(isOfPayer ? {} : { authorization: `Bearer ${wish.token ?? known.apiKey}` }),
        ...(wish.body ? { 'content-type': wish.isForm ? formType : 'application/json' } : {}),
        ...defined({ 'idempotency-key': key }),
      },
      ...(key === undefined ? {} : { repeatable: { request: key, firstAskedAt } }),
      marks: [...(key === undefined ? [] : [{ key }]), ...externalIdIn(known, wish)],
    };
  }

  /** A spoiled request may have the token of another merchant. */
  function externalIdIn(known: Knowledge, { token, body }: Wish): Unwritten[] {
    // That of a charge is its invoice's.
    const { externalID: externalId } = isObject(body?.['invoice']) ? body['invoice'] : (body ?? {});
    const { partyId } = merchants.find(({ apiKey }) => apiKey === token) ?? known;
    return typeof externalId === 'string' ? [{ partyId, externalId }] : [];
  }

  const timeOf = (known: Knowledge, now: () => string) => () =>
    new Date(Date.parse(now()) + known.aheadMs).toISOString();

  /** Without keys, because a request with one has a transaction of its own. */
  function severalOf(now: () => string): Request[] {
    const known = crowds.oneOf(merchants);
    const wishes = wishesTogether(known, crowds, timeOf(known, now));
    return wishes.map((wish) => requestOf(known, { name: billsTogether }, wish, now(), false));
  }

  function nextOne(now: () => string): Request | undefined {
    unanswered = unanswered.filter((request) => mayBeAskedAgain(request, now()));
    if (unanswered.length > 0 && chance.isTrue(0.3)) return unanswered.shift();
    if (answered.length > 0 && chance.isTrue(0.03)) {
      const again = chance.oneOf(answered);
      if (mayBeAskedAgain(again, now())) return again;
    }
    const twin = twice.pop();
    if (twin) return requestOf(twin.known, twin.action, twin.wish, now());
    const known = chance.oneOf(merchants);
    const action = chance.weighted(possible);
    const wanted = action?.wish(known, chance, timeOf(known, now));
    if (!action || !wanted) return undefined;
    const wish = withStrangers(chance.isTrue(0.03) ? spoiled(wanted) : wanted, strangers);
    if (wish.method !== 'GET' && chance.isTrue(0.08) && !wish.isUnique) twice.push({ known, action, wish });
    return requestOf(known, action, wish, now());
  }

  return {
    join: ({ partyId, apiKey }) => void merchants.push(knownTo(partyId, apiKey)),
    beginning(now) {
      for (const known of merchants) {
        const missing = theme.beginnings.find(([, things, count = atFirst]) => known[things].length < count);
        const action = missing && possible.find(({ name }) => name === missing[0]);
        const wish = action?.wish(known, chance, timeOf(known, now));
        if (action && wish) return requestOf(known, action, wish, now());
      }
      return undefined;
    },
    next(now) {
      const together = crowds.isTrue(crowded) ? severalOf(now) : [];
      if (together.length > 0) return together;
      const request = nextOne(now);
      return request ? [request] : [];
    },
    hear(request, answer) {
      const hasKey = request.repeatable !== undefined;
      request.over?.(answer !== undefined && answer.status < 500);
      if (!answer || answer.status >= 500) {
        if (hasKey || request.method === 'GET') unanswered.push(request);
        return;
      }
      unanswered = unanswered.filter((other) => other !== request);
      if (answer.status < 300) request.learn?.(answer.body);
      if (hasKey) answered.push({ ...request, learn: () => {} });
      if (answered.length > remembered) answered.shift();
    },
    clockMoves: () => merchants.flatMap((known) => known.clockMoves),
  };
}

/** After a week the key expires, and a repeat would create an object that looks like the first. */
function mayBeAskedAgain({ isUnique = false, repeatable }: Request, now: string): boolean {
  return !isUnique || !repeatable || Date.parse(now) - Date.parse(repeatable.firstAskedAt) < almostAWeekMs;
}

/** Names of the inside, none of which a request declares. The service ignores them. */
const internalNames = ['externalId', 'amountMinor', 'id', 'shopId', 'constructor'];

function withStrangers(wish: Wish, chance: Chance): Wish {
  if (!wish.body || !chance.isTrue(0.2)) return wish;
  const name = chance.oneOf(internalNames);
  return { ...wish, body: withStranger(wish.body, name, chance.oneOf(['x', -100]), chance) };
}

/** In the object itself, or in one that it has. Metadata is returned as it was sent, so it stays as it is. */
function withStranger(
  body: Record<string, unknown>,
  stranger: string,
  value: unknown,
  chance: Chance,
): Record<string, unknown> {
  const inner = Object.entries(body).filter(([name, member]) => name !== 'metadata' && isObject(member));
  if (inner.length === 0 || chance.isTrue(0.5)) return { ...body, [stranger]: value };
  const [name, member] = chance.oneOf(inner);
  return { ...body, [name]: withStranger(member as Record<string, unknown>, stranger, value, chance) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const wrongValues = [null, -1, 0, 1.5, '', 'x', [], {}, 9_007_199_254_740_992, '\u0000', true];

function lacking(body: Record<string, unknown>, field: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== field));
}
