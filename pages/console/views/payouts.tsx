// Payouts: the list, and one with what happened to it.
import { filter, place } from '../place.ts';
import { read, useRead } from '../read.ts';
import { useState } from 'preact/hooks';
import { fill, say } from '../words/words.ts';
import {
  Amount,
  Empty,
  Facts,
  Heading,
  Link,
  Status,
  Table,
  Time,
  Timeline,
  Trouble,
  Whole,
} from './parts.tsx';
import type { TimelineItem } from './parts.tsx';

type Money = { readonly amount: number; readonly currency: string };
type Payout = {
  readonly id: string;
  readonly wallet: string;
  readonly destination: string;
  readonly body: Money;
  readonly fee?: Money;
  readonly status: string;
  readonly createdAt: string;
  readonly externalID?: string;
  readonly returned?: { readonly at?: string };
};
type Page = { readonly result: readonly Payout[]; readonly continuationToken?: string };

const statuses = ['Pending', 'Succeeded', 'Failed'];
const path = '/wallet/v0/withdrawals';

export function Payouts() {
  const { nav, payouts: words, status: names, payments } = say();
  const { status = '' } = place.value.query;
  const filters = { limit: '50', status };
  const first = useRead<Page>(path, filters);
  return (
    <>
      <Heading text={nav.payouts} lead={words.lead} />
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          {payments.status}
          <select
            value={status}
            onChange={(event) => filter({ status: (event.currentTarget as HTMLSelectElement).value })}
          >
            <option value="">{words.anyStatus}</option>
            {statuses.map((one) => (
              <option value={one}>{names[one]}</option>
            ))}
          </select>
        </label>
      </form>
      <Whole of={first}>
        {(page) =>
          page.result.length === 0 ? (
            <Empty text={words.empty} help={words.emptyHelp} />
          ) : (
            <Pages key={status} first={page} filters={filters} />
          )
        }
      </Whole>
    </>
  );
}

function Pages({ first, filters }: { readonly first: Page; readonly filters: Record<string, string> }) {
  const [pages, setPages] = useState([first]);
  const [problem, setProblem] = useState<{ readonly code: string }>();
  const { payouts: words, payments, more: moreText } = say();
  const continuationToken = pages.at(-1)?.continuationToken;
  async function more(): Promise<void> {
    const next = await read<Page>(path, { ...filters, continuationToken });
    if (next.is === 'there') setPages([...pages, next.value]);
    if (next.is === 'problem') setProblem(next.problem);
  }
  return (
    <>
      <Table
        caption={words.caption}
        rows={pages.flatMap(({ result }) => result)}
        columns={[
          {
            head: payments.time,
            cell: ({ id, createdAt }) => (
              <Link to={['payouts', id]}>
                <Time at={createdAt} />
              </Link>
            ),
          },
          {
            head: payments.amount,
            cell: ({ body }) => <Amount minor={body.amount} currency={body.currency} />,
            isNumber: true,
          },
          { head: payments.status, cell: (payout) => <StatusOf payout={payout} /> },
          { head: words.destination, cell: ({ destination }) => <code>{destination}</code>, isMinor: true },
          { head: words.id, cell: ({ id }) => <code>{id}</code>, isMinor: true },
        ]}
      />
      {continuationToken !== undefined && (
        <p>
          <button type="button" onClick={() => void more()}>
            {moreText}
          </button>
        </p>
      )}
      {problem && <Trouble problem={problem} />}
    </>
  );
}

function StatusOf({ payout }: { readonly payout: Payout }) {
  return (
    <>
      <Status of={payout.status} /> {payout.returned && <span class="soft">{say().payouts.returned}</span>}
    </>
  );
}

export function PayoutPage({ id }: { readonly id: string }) {
  const one = `${path}/${encodeURIComponent(id)}`;
  const payout = useRead<Payout>(one);
  const timeline = useRead<readonly TimelineItem[]>(`${one}/timeline`);
  const { payouts: words, payment, payments } = say();
  return (
    <>
      <Heading text={fill(words.head, { id })} />
      <Whole of={payout}>
        {(found) => (
          <>
            <p class="sum">
              <Amount minor={found.body.amount} currency={found.body.currency} /> <StatusOf payout={found} />
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
                    [payments.time, <Time at={found.createdAt} />],
                    [words.destination, found.destination],
                    [words.wallet, found.wallet],
                    [
                      words.fee,
                      found.fee && <Amount minor={found.fee.amount} currency={found.fee.currency} />,
                    ],
                    [payment.external, found.externalID],
                  ]}
                />
              </section>
            </div>
          </>
        )}
      </Whole>
    </>
  );
}
