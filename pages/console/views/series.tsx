// Series: those of the newest payments, and one with whether it may be charged now.
import { useState } from 'preact/hooks';
import { timeText } from '../formats.ts';
import { place } from '../place.ts';
import { useRead, useShops, type SessionFacts } from '../read.ts';
import { fill, say } from '../words/words.ts';
import { Amount, Empty, Facts, Heading, Link, Status, Table, Time, Timeline, Whole } from './parts.tsx';
import type { TimelineItem } from './parts.tsx';
import { cardText, type Payment, type PaymentPage } from './payments.tsx';

type Series = {
  readonly seriesID: string;
  readonly status: string;
  readonly mayCharge: boolean;
  readonly refusal?: { readonly code: string; readonly retryAfter?: string };
  readonly card: { readonly paymentSystem: string; readonly lastDigits: string; readonly goodUntil?: string };
  readonly chargesMade: number;
  readonly consentedAt: string;
  readonly lastSuccessAt?: string;
  readonly rootPayment?: { readonly invoiceID: string; readonly paymentID: string };
};

const dayMs = 24 * 3_600_000;

export function SeriesList({ mode }: Pick<SessionFacts, 'mode'>) {
  const { nav, series: words } = say();
  const shops = useShops(mode);
  return (
    <>
      <Heading text={nav.series} lead={words.lead} />
      <Whole of={shops}>
        {(all) => {
          const shop = all.find(({ id }) => id === place.value.query['shop']) ?? all[0];
          return shop ? <OfShop id={shop.id} /> : <Empty text={say().noShop} help={say().noShopHelp} />;
        }}
      </Whole>
    </>
  );
}

function OfShop({ id }: { readonly id: string }) {
  const { series: words, payments } = say();
  const [filters] = useState(() => {
    const fromMs = Math.floor(Date.now() / 60_000) * 60_000 - 30 * dayMs;
    const toTime = new Date(fromMs + 366 * dayMs).toISOString();
    return { limit: '200', fromTime: new Date(fromMs).toISOString(), toTime };
  });
  const found = useRead<PaymentPage>(`/v2/analytics/shops/${encodeURIComponent(id)}/payments`, filters);
  return (
    <Whole of={found}>
      {({ result }) => {
        const rows = result.filter(belongsToSeries);
        if (rows.length === 0) return <Empty text={words.empty} help={words.emptyHelp} />;
        return (
          <Table
            caption={words.caption}
            rows={rows}
            columns={[
              {
                head: payments.time,
                cell: ({ invoiceID, id, createdAt }) => (
                  <Link to={['series', invoiceID, id]}>
                    <Time at={createdAt} />
                  </Link>
                ),
              },
              {
                head: payments.amount,
                cell: ({ amount, currency }) => <Amount minor={amount} currency={currency} />,
                isNumber: true,
              },
              { head: payments.status, cell: ({ status }) => <Status of={status} /> },
              { head: payments.card, cell: ({ payer }) => cardText(payer), isMinor: true },
              {
                head: payments.payer,
                cell: ({ payer }) => payer.contactInfo?.email ?? payer.customerID ?? '',
                isMinor: true,
              },
            ]}
          />
        );
      }}
    </Whole>
  );
}

function belongsToSeries({ makeRecurrent, payer }: Payment): boolean {
  return makeRecurrent || payer.payerType === 'RecurrentPayer';
}

export function SeriesPage({
  invoiceId,
  paymentId,
}: {
  readonly invoiceId: string;
  readonly paymentId: string;
}) {
  const payment = [invoiceId, paymentId].map(encodeURIComponent).join('/payments/');
  const path = `/v2/processing/invoices/${payment}/recurring`;
  const series = useRead<Series>(path);
  const { series: words, nav } = say();
  if (series.is === 'problem' && series.problem.code === 'recurringNotFound')
    return (
      <>
        <Heading text={nav.series} />
        <Empty text={words.none} help={words.emptyHelp} />
      </>
    );
  return (
    <>
      <Heading text={series.is === 'there' ? fill(words.head, { id: series.value.seriesID }) : nav.series} />
      <Whole of={series}>{(found) => <One series={found} path={path} />}</Whole>
    </>
  );
}

function One({ series, path }: { readonly series: Series; readonly path: string }) {
  const { series: words, payment, payments } = say();
  const timeline = useRead<readonly TimelineItem[]>(`${path}/timeline`);
  const { refusal, card, rootPayment: root } = series;
  const at = (time: string | undefined) => time && <Time at={time} />;
  return (
    <>
      <p class="sum">
        <Status of={series.status} />{' '}
        {series.mayCharge ? words.mayCharge : fill(words.mayNotCharge, { code: refusal?.code ?? '' })}{' '}
        {refusal?.retryAfter && fill(words.retryAfter, { time: timeText(refusal.retryAfter) })}
      </p>
      <div class="two">
        <section>
          <h2>{payment.timeline}</h2>
          <Whole of={timeline}>{(items) => <Timeline items={items} />}</Whole>
        </section>
        <section>
          <h2>{payment.facts}</h2>
          <Facts
            of={[
              [payments.card, `${card.paymentSystem} ••${card.lastDigits}`],
              [words.goodUntil, at(card.goodUntil)],
              [words.charges, String(series.chargesMade)],
              [words.consentedAt, at(series.consentedAt)],
              [words.lastSuccess, at(series.lastSuccessAt)],
              [
                words.root,
                root && (
                  <Link
                    to={['payments', root.invoiceID, root.paymentID]}
                  >{`${root.invoiceID}/${root.paymentID}`}</Link>
                ),
              ],
            ]}
          />
        </section>
      </div>
    </>
  );
}
