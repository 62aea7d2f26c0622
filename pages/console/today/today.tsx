// The first page: what came in, how much was approved, why the rest was declined, and how retries went.
import type { Instant } from '../../../src/clock.ts';
import { amountText, countText, dateTimeText, percentText } from '../formats.ts';
import type { Minor } from '../minor.ts';
import { addressOf, filter, place } from '../place.ts';
import { read, useLoad, useShops, type Loaded, type SessionFacts, type Shop } from '../read.ts';
import { Empty, Facts, Heading, Table, Whole, type Column } from '../views/parts.tsx';
import { fill, locale, say } from '../words/words.ts';
import {
  amountOf,
  approvalOf,
  charges,
  classesOf,
  fewest,
  partsOf,
  recoveredOf,
  retriesOf,
  shareOf,
  totalOf,
  type Attempt,
  type Decline,
  type Part,
  type Recovered,
  type Recovery,
  type Share,
  type SplitAmounts,
  type SplitCounts,
} from './figures.ts';
import { Bar, Columns, Plot, Rates } from './plots.tsx';
import { isOpen, labelsOf, periodOf, periods, rangeOf, type Range } from './range.ts';

type Fresh = { readonly asOf: Instant; readonly rebuilding?: boolean };
type Sums<Row> = Fresh & { readonly result: readonly Row[] };
type Money = { readonly amount: Minor; readonly currency: string };
type PayoutSum = Money & { readonly status: string; readonly count: number };

type Figures = {
  readonly currency: string;
  readonly range: Range;
  readonly timeZone: string;
  readonly fresh: Fresh;
  readonly parts: readonly Part[];
  readonly attempts: readonly Attempt[];
  readonly declines: readonly Decline[];
  /** Of retries that Mandate makes for subscriptions, by the day since the first failure. */
  readonly recovered: readonly Recovered[];
  readonly refunded: Minor;
  readonly paidOut: PayoutSum | undefined;
  readonly pendingPayouts: PayoutSum | undefined;
  readonly balance: Minor;
};
/** Shops of one currency, because no two are ever added. */
type Chosen = { readonly currency: string; readonly shops: readonly Shop[] };

export function Today({ mode }: Pick<SessionFacts, 'mode'>) {
  const { nav, today } = say();
  const shops = useShops(mode);
  return (
    <>
      <Heading text={nav.today} lead={today.lead} />
      <Whole of={shops}>{(all) => <OfShops shops={all} />}</Whole>
    </>
  );
}

function OfShops({ shops }: { readonly shops: readonly Shop[] }) {
  const { shop: shopId, currency: asked, days, until } = place.value.query;
  const one = shops.find(({ id }) => id === shopId);
  const first = one ?? shops.find(({ currency }) => currency === asked) ?? shops[0];
  const currency = first?.currency ?? '';
  const chosen = { currency, shops: one ? [one] : shops.filter((shop) => shop.currency === currency) };
  const wanted = JSON.stringify([currency, one?.id, days, until, place.value.query['party']]);
  const figures = useLoad(wanted, () => loadFigures(chosen, { days, until }));
  if (!first) return <Empty text={say().noShop} help={say().noShopHelp} />;
  return (
    <>
      <Form
        shops={shops}
        shop={one}
        currency={currency}
        last={figures.is === 'there' ? figures.value.range.until : (until ?? '')}
      />
      <Whole of={figures}>{(found) => <Found figures={found} shop={one} />}</Whole>
    </>
  );
}

/** What a sum takes. Of more shops, all are asked for: the figures are of one currency anyway. */
const longestList = 4_000;

type Reads<All> = { readonly [Name in keyof All]: () => Promise<Loaded<All[Name]>> };

/** One after another: a merchant has one search at a time. */
async function inTurn<All extends object>(reads: Reads<All>): Promise<Loaded<All>> {
  const found: Partial<All> = {};
  for (const name of Object.keys(reads) as (keyof All)[]) {
    const loaded = await reads[name]();
    if (loaded.is !== 'there') return loaded;
    found[name] = loaded.value;
  }
  return { is: 'there', value: found as All };
}

const sums = '/v2/analytics';
const times = (from: string, to: string) => ({ fromTime: from, toTime: to });

/** The first read says the zone and the time of the merchant. */
async function loadFigures(
  { currency, shops }: Chosen,
  asked: { readonly days: string | undefined; readonly until: string | undefined },
): Promise<Loaded<Figures>> {
  const named = shops.map(({ id }) => id).join(',');
  const shopIDs = named.length > longestList ? '' : named;
  const anyTimes = times('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z');
  const facts = await read<SplitCounts & Fresh & { readonly timeZone: string }>(
    `${sums}/payments/split-count`,
    { ...anyTimes, shopIDs, splitUnit: 'day' },
  );
  if (facts.is !== 'there') return facts;
  const { timeZone } = facts.value;
  const range = rangeOf(asked, facts.value);
  const within = { ...times(range.from, range.to), shopIDs };
  const split = { ...within, splitUnit: range.unit, timeZone };
  const found = await inTurn({
    counts: () => read<SplitCounts & Fresh>(`${sums}/payments/split-count`, split),
    amounts: () => read<SplitAmounts>(`${sums}/payments/split-amount`, split),
    attempts: () => read<Sums<Attempt>>(`${sums}/payments/attempts`, within),
    declines: () => read<Sums<Decline>>(`${sums}/payments/declines`, within),
    recoveries: () => read<Sums<Recovery>>(`${sums}/payments/recoveries`, { ...within, by: 'days' }),
    refunds: () => read<Sums<Money>>(`${sums}/refunds/amount`, within),
    payouts: () => read<Sums<PayoutSum>>(`${sums}/payouts`, times(range.from, range.to)),
    balances: () => read<Sums<Money>>(`${sums}/balances/current`, { shopIDs }),
  });
  if (found.is !== 'there') return found;
  const { counts, amounts, attempts, declines, recoveries, refunds, payouts, balances } = found.value;
  const inCurrency = <One extends { readonly currency: string }>(all: Sums<One>) =>
    all.result.filter((one) => one.currency === currency);
  const amountIn = (all: Sums<Money>) => inCurrency(all)[0]?.amount ?? 0;
  const ofStatus = (wanted: string) => inCurrency(payouts).find(({ status }) => status === wanted);
  return {
    is: 'there',
    value: {
      currency,
      range,
      timeZone,
      fresh: counts,
      parts: partsOf(counts, amounts, currency),
      attempts: inCurrency(attempts),
      declines: inCurrency(declines),
      // Counts of retries have no currency: of all shops, they may be of several.
      recovered: shopIDs === '' ? [] : recoveredOf(recoveries.result),
      refunded: amountIn(refunds),
      paidOut: ofStatus('Succeeded'),
      pendingPayouts: ofStatus('Pending'),
      balance: amountIn(balances),
    },
  };
}

const chosenIn = (event: Event) => (event.currentTarget as HTMLSelectElement | HTMLInputElement).value;

function Form(props: {
  readonly shops: readonly Shop[];
  readonly shop: Shop | undefined;
  readonly currency: string;
  readonly last: string;
}) {
  const { shops, shop, currency, last } = props;
  const { payments: words, today } = say();
  const { days } = place.value.query;
  const currencies = [...new Set(shops.map((one) => one.currency))];
  const choose = (value: string) => {
    const [kind, name] = [value.slice(0, 1), value.slice(1)];
    filter({ shop: kind === 's' ? name : undefined, currency: kind === 'c' ? name : undefined });
  };
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <div class="choices">
        {shops.length > 1 && (
          <label>
            {words.shop}
            <select
              value={shop ? `s${shop.id}` : `c${currency}`}
              onChange={(event) => choose(chosenIn(event))}
            >
              {currencies.map((one) => (
                <option value={`c${one}`}>{fill(today.allShops, { currency: one })}</option>
              ))}
              {shops.map(({ id, details, currency: own }) => (
                <option value={`s${id}`}>{`${details.name} · ${own}`}</option>
              ))}
            </select>
          </label>
        )}
        <label>
          {words.period}
          <select value={periodOf(days)} onChange={(event) => filter({ days: chosenIn(event) })}>
            {periods.map((one) => (
              <option value={one}>{today.days[one]}</option>
            ))}
          </select>
        </label>
        <label>
          {today.until}
          <input type="date" value={last} onChange={(event) => filter({ until: chosenIn(event) })} />
        </label>
      </div>
    </form>
  );
}

function Found({ figures, shop }: { readonly figures: Figures; readonly shop: Shop | undefined }) {
  const { today: words, rebuilding } = say();
  const { fresh, timeZone, range, currency, parts } = figures;
  const chosen = { shop: shop?.id, currency: shop ? undefined : currency };
  const link = addressOf(['today'], { ...chosen, days: range.days, until: range.until });
  return (
    <>
      <Numbers figures={figures} />
      {totalOf(parts, 'all') === 0 ? (
        <Empty text={words.empty} help={words.emptyHelp} />
      ) : (
        <div class="plots">
          <OverTime figures={figures} />
          <Approval figures={figures} />
          <Declines figures={figures} />
          <Retries figures={figures} />
          {figures.recovered.length > 0 && <Recovery figures={figures} />}
        </div>
      )}
      <p class="foot soft">
        {fill(words.asOf, { time: dateTimeText(fresh.asOf, timeZone), zone: timeZone })}{' '}
        {fresh.rebuilding && rebuilding} <a href={link}>{words.link}</a>
      </p>
    </>
  );
}

function Numbers({ figures }: { readonly figures: Figures }) {
  const { today: words } = say();
  const { parts, currency, refunded, paidOut, pendingPayouts, balance } = figures;
  const money = (minor: Minor) => amountText(minor, currency);
  const approved = totalOf(parts, 'approved');
  const share = shareOf(approved, approved + totalOf(parts, 'declined'));
  const captured = countText(totalOf(parts, 'captured'));
  return (
    <div class="numbers">
      <Facts
        of={[
          [
            words.captured,
            <Number of={money(amountOf(parts))} more={fill(words.payments, { count: captured })} />,
          ],
          [words.refunded, <Number of={money(refunded)} />],
          [words.approved, <Number {...shareTexts(share)} />],
          [
            words.paidOut,
            <Number
              of={money(paidOut?.amount ?? 0)}
              more={pendingPayouts && fill(words.pendingPayouts, { amount: money(pendingPayouts.amount) })}
            />,
          ],
          [words.balance, <Number of={money(balance)} more={words.now} />],
        ]}
      />
    </div>
  );
}

/** A sum may be wider than its place on a phone: its currency then stands below. */
function Number({ of, more }: { readonly of: string; readonly more?: string | undefined }) {
  return (
    <>
      <span class="amount">{of.replace(/\u00a0(?=\p{L}+$)/u, ' ')}</span>
      {more !== undefined && <span class="soft more">{more}</span>}
    </>
  );
}

/** Of few, the counts alone. */
function shareTexts({ rate, part, of }: Share): { readonly of: string; readonly more?: string } {
  const counts = fill(say().today.outOf, { part: countText(part), of: countText(of) });
  return rate === undefined ? { of: counts } : { of: percentText(rate), more: counts };
}

function shareText(share: Share): string {
  const { of, more } = shareTexts(share);
  return more === undefined ? of : `${of} (${more})`;
}

function labelled({ parts, range, timeZone, fresh }: Figures) {
  const starts = parts.map(({ startMs }) => startMs);
  const labels = labelsOf(starts, { unit: range.unit, timeZone, locale: locale.value });
  return parts.map((part, index) => ({
    ...part,
    label: labels[index] ?? '',
    isOpen: isOpen(part.startMs, parts[index + 1]?.startMs ?? Date.parse(range.to), fresh.asOf),
    share: shareOf(part.approved, part.approved + part.declined),
  }));
}

type LabelledPart = ReturnType<typeof labelled>[number];

function OverTime({ figures }: { readonly figures: Figures }) {
  const { today: words } = say();
  const parts = labelled(figures);
  const number = (head: string, cell: (part: LabelledPart) => string): Column<LabelledPart> => ({
    head,
    cell,
    isNumber: true,
  });
  return (
    <Plot
      head={words.overTime}
      lead={words.overTimeLead}
      rows={parts}
      columns={[
        {
          head: words.part,
          cell: ({ label, isOpen: isNow }) => `${label}${isNow ? ` (${words.open})` : ''}`,
        },
        number(words.kind.captured, ({ captured }) => countText(captured)),
        number(words.kind.open, ({ open }) => countText(open)),
        number(words.kind.cancelled, ({ cancelled }) => countText(cancelled)),
        number(words.kind.failed, ({ failed }) => countText(failed)),
        number(words.captured, ({ amount }) => amountText(amount, figures.currency)),
      ]}
    >
      <Columns name={words.overTime} parts={parts} />
    </Plot>
  );
}

function Approval({ figures }: { readonly figures: Figures }) {
  const { today: words } = say();
  const parts = labelled(figures);
  const decided = parts.filter(({ share }) => share.of > 0);
  return (
    <Plot
      head={words.approval}
      lead={words.approvalLead}
      rows={decided}
      columns={[
        { head: words.part, cell: ({ label }) => label },
        { head: words.approved, cell: ({ share }) => shareText(share), isNumber: true },
      ]}
    >
      {parts.some(({ share }) => share.rate !== undefined) ? (
        <Rates name={words.approval} parts={parts} />
      ) : (
        <p class="few">{decided.length === 0 ? words.noneDecided : fill(words.few, { count: fewest })}</p>
      )}
      <Facts
        of={charges.map((charge) => [words.charge[charge], shareText(approvalOf(figures.attempts, charge))])}
      />
    </Plot>
  );
}

function Declines({ figures: { declines, currency } }: { readonly figures: Figures }) {
  const { today: words, declined } = say();
  const classes = classesOf(declines);
  const all = classes.reduce((sum, { count }) => sum + count, 0);
  const nameOf = (declineClass = '') => declined[declineClass] ?? (declineClass || words.noClass);
  return (
    <Plot
      head={words.declines}
      lead={words.declinesLead}
      rows={declines}
      columns={[
        { head: words.why, cell: ({ declineClass }) => nameOf(declineClass) },
        { head: words.code, cell: ({ code = '' }) => code },
        { head: words.count, cell: ({ count }) => countText(count), isNumber: true },
        { head: words.amount, cell: ({ amount }) => amountText(amount, currency), isNumber: true },
      ]}
    >
      {classes.length === 0 ? (
        <Empty text={words.noDeclines} />
      ) : (
        <Table
          caption={words.declines}
          rows={classes}
          columns={[
            {
              head: words.why,
              cell: ({ declineClass, count }) => (
                <>
                  {nameOf(declineClass)}
                  <Bar of={count / all} kind="failed" />
                </>
              ),
            },
            { head: words.count, cell: ({ count }) => countText(count), isNumber: true },
          ]}
        />
      )}
    </Plot>
  );
}

function Retries({ figures: { attempts, currency } }: { readonly figures: Figures }) {
  const { today: words } = say();
  const retries = retriesOf(attempts);
  const byAttempt = attempts.filter(({ attempt }) => attempt > 0);
  return (
    <Plot
      head={words.retries}
      lead={words.retriesLead}
      rows={byAttempt}
      columns={[
        {
          head: words.attempt,
          cell: ({ attempt }) => (attempt === 1 ? words.charge.first : retryText(attempt - 1)),
        },
        { head: words.approved, cell: ({ approved }) => countText(approved), isNumber: true },
        { head: words.declined, cell: ({ declined }) => countText(declined), isNumber: true },
      ]}
    >
      {retries.length === 0 ? (
        <Empty text={words.noRetries} help={words.noRetriesHelp} />
      ) : (
        <Table
          caption={`${words.charge.retries}, ${currency}`}
          rows={retries}
          columns={[
            {
              head: words.attempt,
              cell: (share) => (
                <>
                  {retryText(share.retry)}
                  {share.rate !== undefined && <Bar of={share.rate} kind="captured" interval={share} />}
                </>
              ),
            },
            { head: words.approved, cell: shareText, isNumber: true },
          ]}
        />
      )}
    </Plot>
  );
}

function Recovery({ figures: { recovered } }: { readonly figures: Figures }) {
  const { today: words } = say();
  const days = recovered.map((day) => ({ ...day, label: fill(words.day, { number: day.day }) }));
  return (
    <Plot
      head={words.recovery}
      lead={words.recoveryLead}
      rows={days.filter(({ share }) => share.of > 0)}
      columns={[
        { head: words.sinceFailure, cell: ({ label }) => label },
        { head: words.approved, cell: ({ share }) => shareText(share), isNumber: true },
        {
          head: words.interval,
          cell: ({ share: { low, high } }) => `${percentText(low)} – ${percentText(high)}`,
          isNumber: true,
        },
      ]}
    >
      {days.some(({ share }) => share.rate !== undefined) ? (
        <Rates name={words.recovery} parts={days} hasIntervals />
      ) : (
        <p class="few">{fill(words.fewRetries, { count: fewest })}</p>
      )}
    </Plot>
  );
}

function retryText(retry: number): string {
  return fill(say().today.retry, { number: retry });
}
