// mandate payments list: the newest payments, or those that wait for a bank.
import { epochMsOf } from '../../clock.ts';
import { newestPayments, waitingPayments, type PaymentOverview } from '../../payments/store/job-overview.ts';
import { printTable, requireParty, requireShop, wholeNumber, withFoundation } from '../foundation.ts';
import { printJson } from '../json-members.ts';
import { moment } from '../option-values.ts';
import { duration, nextTryText, summaryOf, timeText } from './payment-text.ts';

type ListOptions = {
  waiting?: true;
  party?: string;
  shop?: string;
  since?: string;
  limit: string;
  json?: true;
};

export async function listPayments(options: ListOptions): Promise<void> {
  const { party: partyId, shop: shopId } = options;
  const limit = wholeNumber('--limit', options.limit, 1, 1_000);
  if (options.waiting && options.since !== undefined)
    throw new Error('Payments of any age wait. Give either --waiting or --since.');
  const { found, now, since } = await withFoundation(async ({ database, ports }) => {
    const now = ports.clock.now();
    const since = moment('--since', options.since ?? '24h', now);
    if (partyId !== undefined && shopId !== undefined) await requireShop(database, partyId, shopId);
    else if (partyId !== undefined) await requireParty(database, partyId);
    // One more shows whether the list is complete.
    const filter = { partyId, shopId, limit: limit + 1 };
    const found = options.waiting
      ? await waitingPayments(database, filter, now)
      : await newestPayments(database, { ...filter, sinceMs: epochMsOf(since) }, now);
    return { found, now, since };
  });
  const shown = found.slice(0, limit);
  if (options.json) return printJson('payments list', shown.map(summaryOf));
  const [first] = shown;
  if (!first) {
    return console.log(
      options.waiting
        ? 'No payment waits for a bank.'
        : `No payment of an invoice created since ${timeText(since)}. List older ones with --since.`,
    );
  }
  printPayments(shown);
  console.log();
  if (found.length > limit) console.log('There are more. List up to 1000 with --limit.');
  console.log(
    `Now ${timeText(now)}. See why, and what to do, with "mandate payments show ${summaryOf(first).id}".`,
  );
}

function printPayments(shown: readonly PaymentOverview[]): void {
  printTable(
    ['payment', 'party', 'shop', 'state', 'amount', 'bank', 'waiting', 'tries', 'next try', 'last failure'],
    shown.map((one) => {
      const { id, partyId, shopId, state, amountMinor, currency, bankId, attempts } = summaryOf(one);
      return [
        id,
        partyId,
        shopId,
        state,
        `${amountMinor} ${currency}`,
        bankId,
        one.isWaiting ? duration(one.now, one.changedAt) : '',
        one.isWaiting ? String(attempts) : '',
        nextTryText(one),
        shortened(one.lastFailure ?? ''),
      ];
    }),
  );
}

const maxReasonCharacters = 60;

function shortened(text: string): string {
  return text.length > maxReasonCharacters ? `${text.slice(0, maxReasonCharacters - 1)}…` : text;
}
