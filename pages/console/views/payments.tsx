// The list of payments, with one box for every kind of search.
import { useState } from 'preact/hooks';
import { filter, place, type Filters } from '../place.ts';
import { read, useRead, useShops, type SessionFacts, type Shop } from '../read.ts';
import { searchesFor, type Search } from '../search-box.ts';
import { timeText } from '../formats.ts';
import { fill, say } from '../words/words.ts';
import { Amount, Empty, Heading, Link, Status, Table, Time, Trouble, Whole, type Column } from './parts.tsx';

export type Payment = {
  readonly id: string;
  readonly invoiceID: string;
  readonly externalID?: string;
  readonly createdAt: string;
  readonly amount: number;
  readonly currency: string;
  readonly status: string;
  readonly makeRecurrent: boolean;
  readonly flow: { readonly type: string; readonly heldUntil?: string };
  readonly payer: {
    readonly payerType: string;
    readonly customerID?: string;
    readonly contactInfo?: { readonly email?: string };
    readonly paymentToolDetails?: {
      readonly cardNumberMask?: string;
      readonly lastDigits?: string;
      readonly paymentSystem?: string;
    };
  };
  readonly transactionInfo?: { readonly rrn?: string; readonly approvalCode?: string };
  readonly error?: { readonly code: string; readonly declineClass?: string; readonly subError?: SubError };
};
type SubError = { readonly code: string; readonly subError?: SubError };

export type PaymentPage = {
  readonly result: readonly Payment[];
  readonly continuationToken?: string;
  readonly asOf: string;
  readonly rebuilding?: boolean;
};

const statuses = ['pending', 'processed', 'captured', 'refunded', 'cancelled', 'failed'];
const periods = ['1', '7', '30', '90', '365'] as const;
const dayMs = 24 * 3_600_000;
const rows = '50';

export function Payments({ mode }: Pick<SessionFacts, 'mode'>) {
  const words = say();
  const shops = useShops(mode);
  return (
    <>
      <Heading text={words.nav.payments} lead={words.payments.lead} />
      <Whole of={shops}>{(all) => <OfShop shops={all} />}</Whole>
    </>
  );
}

function OfShop({ shops }: { readonly shops: readonly Shop[] }) {
  const { query } = place.value;
  const shop = shops.find(({ id }) => id === query['shop']) ?? shops[0];
  if (!shop) return <Empty text={say().noShop} help={say().noShopHelp} />;
  const found = searchesFor(query['q'] ?? '', shop.currency);
  const searches = found === 'cardNumber' ? [] : found;
  const search = searches.find(({ way }) => way === query['as']) ?? searches[0];
  return (
    <>
      <Form shops={shops} shop={shop} />
      {search && <SearchedBy search={search} others={searches.filter((one) => one !== search)} />}
      {found === 'cardNumber' ? (
        <Trouble problem={{ code: 'cardNumber' }} />
      ) : (
        <Found key={JSON.stringify(query)} shop={shop} shops={shops} search={search} />
      )}
    </>
  );
}

function Form({ shops, shop }: { readonly shops: readonly Shop[]; readonly shop: Shop }) {
  const { payments: words, status } = say();
  const { q = '', status: chosen = '', days = '30' } = place.value.query;
  const [problem, setProblem] = useState('');

  function search(event: SubmitEvent): void {
    event.preventDefault();
    const written = new FormData(event.currentTarget as HTMLFormElement).get('q');
    const text = typeof written === 'string' ? written.trim() : '';
    // A card number must not get into the address.
    if (searchesFor(text, shop.currency) === 'cardNumber') return setProblem(say().problem.cardNumber);
    setProblem('');
    filter({ q: text, as: undefined });
  }
  const chosenOf = (event: Event) => (event.currentTarget as HTMLSelectElement).value;
  return (
    <form class="filters" role="search" onSubmit={search}>
      <label class="wide">
        {words.box}
        <input
          key={q}
          name="q"
          type="search"
          defaultValue={q}
          placeholder={words.hint}
          autocomplete="off"
          spellcheck={false}
          {...(problem === '' ? {} : { 'aria-invalid': true, 'aria-describedby': 'q-problem' })}
        />
      </label>
      <button class="main" type="submit">
        {words.button}
      </button>
      <p id="q-problem" class="problem" role="alert">
        {problem}
      </p>
      <div class="choices">
        {shops.length > 1 && (
          <label>
            {words.shop}
            <select onChange={(event) => filter({ shop: chosenOf(event) })} value={shop.id}>
              {shops.map(({ id, details, currency }) => (
                <option value={id}>{`${details.name} · ${currency}`}</option>
              ))}
            </select>
          </label>
        )}
        <label>
          {words.status}
          <select onChange={(event) => filter({ status: chosenOf(event) })} value={chosen}>
            <option value="">{words.anyStatus}</option>
            {statuses.map((one) => (
              <option value={one}>{status[one]}</option>
            ))}
          </select>
        </label>
        <label>
          {words.period}
          <select onChange={(event) => filter({ days: chosenOf(event) })} value={days}>
            {periods.map((one) => (
              <option value={one}>{words.days[one]}</option>
            ))}
          </select>
        </label>
      </div>
    </form>
  );
}

function SearchedBy({ search, others }: { readonly search: Search; readonly others: readonly Search[] }) {
  const { payments: words, ways } = say();
  return (
    <p class="searched" role="status">
      {fill(words.searchedBy, { what: ways[search.way] })} {search.isExact && words.anyTime}{' '}
      {others.length > 0 && (
        <span class="soft">
          {words.instead}{' '}
          {others.map(({ way }) => (
            <button class="quiet" type="button" onClick={() => filter({ as: way })}>
              {ways[way]}
            </button>
          ))}
        </span>
      )}{' '}
      <button class="quiet" type="button" onClick={() => filter({ q: undefined, as: undefined })}>
        {words.clear}
      </button>
    </p>
  );
}

/** A test clock can be ahead, so the period has no end before the longest that a search may have. */
function rangeOf(days: string): Filters {
  const known = periods.find((one) => one === days) ?? '30';
  const fromMs = Math.floor(Date.now() / 60_000) * 60_000 - Number(known) * dayMs;
  return {
    fromTime: new Date(fromMs).toISOString(),
    toTime: new Date(fromMs + 366 * dayMs).toISOString(),
  };
}

function Found(props: {
  readonly shop: Shop;
  readonly shops: readonly Shop[];
  readonly search: Search | undefined;
}) {
  const { shop, search } = props;
  const { status, days = '30' } = place.value.query;
  const [filters] = useState<Filters>(() => ({
    limit: rows,
    paymentStatus: status,
    ...(search?.isExact ? {} : rangeOf(days)),
    ...search?.filters,
  }));
  const path = `/v2/analytics/shops/${encodeURIComponent(shop.id)}/payments`;
  const first = useRead<PaymentPage>(path, filters);
  return (
    <Whole of={first}>
      {(page) =>
        page.result.length === 0 ? (
          <Nothing {...props} isFiltered={search !== undefined || status !== undefined} />
        ) : (
          <Pages first={page} path={path} filters={filters} />
        )
      }
    </Whole>
  );
}

function Nothing(props: {
  readonly shop: Shop;
  readonly shops: readonly Shop[];
  readonly isFiltered: boolean;
}) {
  const { payments: words } = say();
  const others = props.shops.filter(({ id }) => id !== props.shop.id);
  if (!props.isFiltered) return <Empty text={words.emptyShop} help={words.emptyShopHelp} />;
  return (
    <Empty text={words.empty} help={words.emptyHelp}>
      {others.length > 0 && (
        <p>
          {words.otherShops}{' '}
          {others.map(({ id, details }) => (
            <button class="quiet" type="button" onClick={() => filter({ shop: id })}>
              {details.name}
            </button>
          ))}
        </p>
      )}
    </Empty>
  );
}

function Pages(props: { readonly first: PaymentPage; readonly path: string; readonly filters: Filters }) {
  const [pages, setPages] = useState([props.first]);
  const [problem, setProblem] = useState<{ readonly code: string }>();
  const last = pages.at(-1) ?? props.first;
  async function more(): Promise<void> {
    const asked = { ...props.filters, continuationToken: last.continuationToken };
    const next = await read<PaymentPage>(props.path, asked);
    if (next.is === 'there') setPages([...pages, next.value]);
    if (next.is === 'problem') setProblem(next.problem);
  }
  const { payments: words, more: moreText, asOf, rebuilding } = say();
  return (
    <>
      <Table caption={words.caption} columns={columns()} rows={pages.flatMap(({ result }) => result)} />
      {last.continuationToken !== undefined && (
        <p>
          <button type="button" onClick={() => void more()}>
            {moreText}
          </button>
        </p>
      )}
      {problem && <Trouble problem={problem} />}
      <p class="foot soft">
        {fill(asOf, { time: timeText(props.first.asOf) })} {props.first.rebuilding && rebuilding}
      </p>
    </>
  );
}

function columns(): readonly Column<Payment>[] {
  const { payments: words } = say();
  return [
    {
      head: words.time,
      cell: ({ createdAt, invoiceID, id }) => (
        <Link to={['payments', invoiceID, id]}>
          <Time at={createdAt} />
        </Link>
      ),
    },
    {
      head: words.amount,
      cell: ({ amount, currency }) => <Amount minor={amount} currency={currency} />,
      isNumber: true,
    },
    {
      head: words.status,
      cell: (payment) => (
        <>
          <Status of={payment.status} /> <span class="soft why">{whyOf(payment)}</span>
        </>
      ),
    },
    { head: words.card, cell: ({ payer }) => cardText(payer), isMinor: true },
    {
      head: words.payer,
      cell: ({ payer }) => payer.contactInfo?.email ?? payer.customerID ?? '',
      isMinor: true,
    },
    { head: words.id, cell: ({ invoiceID, id }) => <code>{`${invoiceID}/${id}`}</code>, isMinor: true },
  ];
}

export function cardText({ paymentToolDetails: card }: Payment['payer']): string {
  if (!card?.lastDigits) return '';
  return `${card.paymentSystem ?? ''} ••${card.lastDigits}`.trim();
}

/** Who can help, or the code of the failure as it is. */
export function whyOf({ error }: Payment): string {
  if (!error) return '';
  const known = error.declineClass === undefined ? undefined : say().declined[error.declineClass];
  return (
    known ?? [error.code, error.subError?.code, error.subError?.subError?.code].filter(Boolean).join(' › ')
  );
}
