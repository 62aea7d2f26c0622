// mandate subscriptions list: those of a shop, or the parked ones of all merchants.
import {
  nextAction,
  statusOf,
  type Status,
  type Subscription,
} from '../../subscriptions/domain/subscription.ts';
import {
  listParkedSubscriptions,
  listSubscriptions as readList,
  type Listed,
} from '../../subscriptions/store/subscription-lists.ts';
import type { Instant } from '../../clock.ts';
import type { Foundation } from '../../app/composition/foundation.ts';
import { printTable, requireParty, requireShop, wholeNumber, withFoundation } from '../foundation.ts';
import { printJson } from '../json-members.ts';

type ListOptions = {
  readonly party?: string;
  readonly shop?: string;
  readonly status?: Status;
  readonly parked?: true;
  readonly limit: string;
  readonly json?: true;
};

export async function listSubscriptions(options: ListOptions): Promise<void> {
  const limit = wholeNumber('--limit', options.limit, 1, 1_000);
  // One more shows whether the list is complete.
  const found = await withFoundation(({ database }) => read(database, options, limit + 1));
  const shown = found.slice(0, limit).map(({ subscription }) => summaryOf(subscription));
  if (options.json) return printJson('subscriptions list', shown);
  if (shown.length === 0) return console.log('No subscription found.');
  printTable(
    ['subscription', 'party', 'shop', 'status', 'parked for', 'created', 'next action', 'unpaid'],
    shown.map(({ id, partyId, shopId, status, parkedFor, createdAt, nextActionAt, unpaidPeriods }) => [
      id,
      partyId,
      shopId,
      status,
      parkedFor ?? '',
      createdAt,
      nextActionAt ?? '',
      String(unpaidPeriods),
    ]),
  );
  if (found.length > limit) console.log('\nThere are more. List up to 1000 with --limit.');
}

async function read(
  database: Foundation['database'],
  { party: partyId, shop: shopId, status, parked }: ListOptions,
  limit: number,
) {
  if (partyId === undefined && shopId !== undefined)
    throw new Error('A shop belongs to a merchant. Give --party too.');
  if (partyId !== undefined && shopId !== undefined) {
    await requireShop(database, partyId, shopId);
    return ofShop(database, { partyId, shopId, status, isParked: parked }, limit);
  }
  if (!parked) throw new Error('Give --party and --shop, or --parked.');
  if (partyId !== undefined) await requireParty(database, partyId);
  return listParkedSubscriptions(database, { partyId, status, limit });
}

/** Page by page, because a page looks at so many subscriptions only. */
async function ofShop(
  database: Foundation['database'],
  asked: Pick<Parameters<typeof readList>[1], 'partyId' | 'shopId' | 'status' | 'isParked'>,
  limit: number,
): Promise<Listed[]> {
  const found: Listed[] = [];
  let from: { before_at: Instant | null; before_id: string | null } | undefined = {
    before_at: null,
    before_id: null,
  };
  while (from && found.length < limit) {
    const { rows, stoppedAt } = await readList(database, { ...asked, ...from, limit: limit - found.length });
    found.push(...rows);
    from = stoppedAt && { before_at: stoppedAt.createdAt, before_id: stoppedAt.id };
  }
  return found;
}

function summaryOf(subscription: Subscription) {
  const { terms, parkedFor, open } = subscription;
  const { id, partyId, shopId, customerId, createdAt } = terms;
  return {
    id,
    partyId,
    shopId,
    customerId,
    status: statusOf(subscription),
    parkedFor,
    createdAt,
    nextActionAt: nextAction(subscription)?.at,
    unpaidPeriods: open.filter(({ declineClass }) => declineClass !== undefined).length,
  };
}
