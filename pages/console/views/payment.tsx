// One payment: state, money, what happened in words, refunds, and what belongs to it.
import { useRead } from '../read.ts';
import { timeText } from '../formats.ts';
import { fill, say } from '../words/words.ts';
import { Amount, Facts, Heading, Link, Status, Table, Time, Timeline, Trouble, Whole } from './parts.tsx';
import type { TimelineItem } from './parts.tsx';
import { cardText, whyOf, type Payment } from './payments.tsx';

type Invoice = { readonly shopID: string; readonly product: string };
type Refund = {
  readonly id: string;
  readonly createdAt: string;
  readonly amount: number;
  readonly currency: string;
  readonly status: string;
  readonly reason?: string;
  readonly rrn?: string;
};

export function PaymentPage({
  invoiceId,
  paymentId,
}: {
  readonly invoiceId: string;
  readonly paymentId: string;
}) {
  const invoicePath = `/v2/processing/invoices/${encodeURIComponent(invoiceId)}`;
  const path = `${invoicePath}/payments/${encodeURIComponent(paymentId)}`;
  const payment = useRead<Payment>(path);
  const invoice = useRead<Invoice>(invoicePath);
  const timeline = useRead<readonly TimelineItem[]>(`${path}/timeline`);
  const refunds = useRead<readonly Refund[]>(`${path}/refunds`);
  const { payment: words } = say();
  return (
    <>
      <Heading text={fill(words.head, { id: `${invoiceId}/${paymentId}` })} />
      <Whole of={payment}>
        {(found) => (
          <>
            <p class="sum">
              <Amount minor={found.amount} currency={found.currency} /> <Status of={found.status} />
            </p>
            <Why payment={found} timeline={timeline.is === 'there' ? timeline.value : []} />
            <Whole of={refunds}>{(all) => (all.length > 0 ? <Refunds all={all} /> : null)}</Whole>
            <div class="two">
              <section>
                <h2>{words.timeline}</h2>
                <Whole of={timeline}>{(items) => <Timeline items={items} />}</Whole>
              </section>
              <section>
                <h2>{words.facts}</h2>
                <PaymentFacts
                  payment={found}
                  invoice={invoice.is === 'there' ? invoice.value : undefined}
                  isRefunded={refunds.is !== 'there' || refunds.value.length > 0}
                />
                {invoice.is === 'problem' && <Trouble problem={invoice.problem} />}
              </section>
            </div>
          </>
        )}
      </Whole>
    </>
  );
}

/** The line of the timeline that says it best: the latest about the failure. */
function Why({
  payment,
  timeline,
}: {
  readonly payment: Payment;
  readonly timeline: readonly TimelineItem[];
}) {
  if (payment.status !== 'failed') return null;
  const { payment: words } = say();
  const said = timeline.findLast(({ kind, code }) => kind === 'status' && code !== undefined);
  const next = timeline.findLast(({ kind }) => kind === 'nextAttempt');
  return (
    <section class="why-box">
      <h2>{words.why}</h2>
      <p>{whyOf(payment)}</p>
      {said && <p class="soft">{said.text}</p>}
      {next && <p class="soft">{next.text}</p>}
    </section>
  );
}

function PaymentFacts({
  payment,
  invoice,
  isRefunded,
}: {
  readonly payment: Payment;
  readonly invoice: Invoice | undefined;
  readonly isRefunded: boolean;
}) {
  const { payment: words, payments, ways } = say();
  const { payer, transactionInfo, flow, invoiceID, id } = payment;
  const email = payer.contactInfo?.email;
  const shop = invoice?.shopID;
  const searched = (q: string, as: string, text: string) => (
    <Link to={['payments']} filters={{ shop, q, as }}>
      {text}
    </Link>
  );
  const isOfSeries = payment.makeRecurrent || payer.payerType !== 'PaymentResourcePayer';
  return (
    <Facts
      of={[
        [payments.time, <Time at={payment.createdAt} />],
        [words.product, invoice?.product],
        [words.shop, shop],
        [payments.card, cardText(payer)],
        [payments.payer, email && searched(email, 'email', email)],
        [words.customer, payer.customerID && searched(payer.customerID, 'customer', payer.customerID)],
        [ways.rrn.toUpperCase(), transactionInfo?.rrn],
        [words.approval, transactionInfo?.approvalCode],
        [words.flow, flow.heldUntil ? fill(words.hold, { time: timeText(flow.heldUntil) }) : words.instant],
        [words.external, payment.externalID],
        [words.refunds, !isRefunded && words.noRefunds],
        [words.invoice, searched(invoiceID, 'invoice', words.sameInvoice)],
        [words.series, isOfSeries && <Link to={['series', invoiceID, id]}>{words.openSeries}</Link>],
      ]}
    />
  );
}

function Refunds({ all }: { readonly all: readonly Refund[] }) {
  const { payment: words, payments, ways } = say();
  return (
    <section>
      <h2>{words.refunds}</h2>
      <Table
        caption={words.refunds}
        rows={all}
        columns={[
          { head: payments.time, cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            head: payments.amount,
            cell: ({ amount, currency }) => <Amount minor={amount} currency={currency} />,
            isNumber: true,
          },
          { head: payments.status, cell: ({ status }) => <Status of={status} /> },
          { head: ways.rrn, cell: ({ rrn }) => rrn ?? '', isMinor: true },
          { head: words.reason, cell: ({ reason }) => reason ?? '', isMinor: true },
        ]}
      />
    </section>
  );
}
