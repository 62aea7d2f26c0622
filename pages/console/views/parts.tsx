// What the views are made of.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { exactTimeText, durationText, amountText, timeText, timeZone } from '../formats.ts';
import type { Minor } from '../minor.ts';
import { addressOf, type Filters } from '../place.ts';
import type { Loaded, Problem } from '../read.ts';
import { fill, say } from '../words/words.ts';

/** Focused after each change of page, so that a screen reader says where it is. */
export function Heading({ text, lead }: { readonly text: string; readonly lead?: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${text} · ${say().title}`;
    if (document.activeElement === document.body) heading.current?.focus();
  }, [text]);
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {text}
      </h1>
      {lead && <p class="lead">{lead}</p>}
    </>
  );
}

export function Link(props: {
  readonly to: readonly string[];
  readonly filters?: Filters;
  readonly children: ComponentChildren;
  readonly isCurrent?: boolean;
}) {
  const current = props.isCurrent ? ({ 'aria-current': 'page' } as const) : {};
  return (
    <a href={addressOf(props.to, props.filters)} {...current}>
      {props.children}
    </a>
  );
}

const good = new Set(['captured', 'succeeded', 'Succeeded', 'active', 'delivered', 'reachable']);
const bad = new Set(['failed', 'Failed', 'parked', 'stopped', 'away']);
const waits = new Set(['pending', 'Pending', 'processed', 'failing', 'delivering']);

/** A status that a newer release brings is shown as it is. */
export function Status({ of }: { readonly of: string }) {
  const kind = good.has(of) ? 'good' : bad.has(of) ? 'bad' : waits.has(of) ? 'waits' : 'plain';
  return <span class={`status ${kind}`}>{say().status[of] ?? of}</span>;
}

export function Time({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at}>
      {timeText(at)}
    </time>
  );
}

export function Amount({ minor, currency }: { readonly minor: Minor; readonly currency: string }) {
  return <span class="amount">{amountText(minor, currency)}</span>;
}

export type Column<Row> = {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Left out where there is little space. */
  readonly isMinor?: boolean;
  readonly isNumber?: boolean;
};

export function Table<Row>(props: {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
}) {
  const classOf = ({ isMinor, isNumber }: Column<Row>) =>
    [isMinor && 'minor', isNumber && 'number'].filter(Boolean).join(' ');
  return (
    <table>
      <caption class="off-screen">{props.caption}</caption>
      <thead>
        <tr>
          {props.columns.map((column) => (
            <th scope="col" class={classOf(column)}>
              {column.head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {props.rows.map((row) => (
          <tr>
            {props.columns.map((column) => (
              <td class={classOf(column)}>{column.cell(row)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Names and values. A value that is missing is left out with its name. */
export function Facts({ of }: { readonly of: readonly (readonly [string, ComponentChildren])[] }) {
  const shown = of.filter(([, value]) => value !== undefined && value !== '' && value !== false);
  return (
    <dl class="facts">
      {shown.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** An empty list says what fills it. */
export function Empty({
  text,
  help,
  children,
}: {
  readonly text: string;
  readonly help?: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p>{text}</p>
      {help && <p class="soft">{help}</p>}
      {children}
    </div>
  );
}

const worded = ['cardNumber', 'searchTooWide', 'tooManyRequests', 'partyNotFound', 'offline'] as const;

export function problemText({ code }: Problem): string {
  const { problem } = say();
  const known = worded.find((one) => one === code);
  if (known) return problem[known];
  return /notFound$/i.test(code) ? problem.notFound : fill(problem.other, { code });
}

export function Trouble({ problem }: { readonly problem: Problem }) {
  return (
    <p class="trouble" role="alert">
      {problemText(problem)}
    </p>
  );
}

export function Whole<T>(props: {
  readonly of: Loaded<T>;
  readonly children: (value: T) => ComponentChildren;
}) {
  const { of: loaded } = props;
  if (loaded.is === 'loading')
    return (
      <p class="soft" role="status">
        {say().loading}
      </p>
    );
  return loaded.is === 'problem' ? <Trouble problem={loaded.problem} /> : <>{props.children(loaded.value)}</>;
}

export type TimelineItem = {
  readonly at: string;
  readonly kind: string;
  readonly text: string;
  readonly durationMs?: number;
  readonly amount?: number;
  readonly currency?: string;
  readonly code?: string;
  readonly id?: string;
};

export function Timeline({ items }: { readonly items: readonly TimelineItem[] }) {
  return (
    <ol class="timeline">
      {items.map((item) => (
        <li data-kind={item.kind}>
          <p class="when">
            <time dateTime={item.at} title={item.at}>
              {exactTimeText(item.at)}
            </time>{' '}
            <span class="kind">{say().timeline[item.kind] ?? item.kind}</span>
          </p>
          <p>{item.text}</p>
          <p class="soft">
            {[
              item.amount !== undefined && item.currency && amountText(item.amount, item.currency),
              item.durationMs !== undefined && durationText(item.durationMs),
              item.code,
              item.id,
            ]
              .filter(Boolean)
              .join(' · ')}
          </p>
        </li>
      ))}
    </ol>
  );
}

export function Zone() {
  return <p class="foot soft">{fill(say().times, { zone: timeZone() })}</p>;
}
