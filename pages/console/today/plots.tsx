// The drawings of Today. A table behind each has the same figures, so nothing is said by a drawing alone.
import type { ComponentChildren } from 'preact';
import { countText, percentText } from '../formats.ts';
import { say } from '../words/words.ts';
import { Table, type Column } from '../views/parts.tsx';
import { kinds, type Part, type Share } from './figures.ts';

export function Plot<Row>(props: {
  readonly head: string;
  readonly lead: string;
  readonly children: ComponentChildren;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
}) {
  const { head, lead, children, rows, columns } = props;
  return (
    <section class="plot">
      <h2>{head}</h2>
      <p class="soft">{lead}</p>
      {children}
      {rows.length > 0 && (
        <details>
          <summary>{say().today.table}</summary>
          <div class="scrolled" role="region" aria-label={head} tabIndex={0}>
            <Table caption={head} rows={rows} columns={columns} />
          </div>
        </details>
      )}
    </section>
  );
}

type Labelled = { readonly label: string };

/** A column for each part, by what its payments are. One that is not over is striped. */
export function Columns(props: {
  readonly name: string;
  readonly parts: readonly (Part & Labelled & { readonly isOpen: boolean })[];
}) {
  const { name, parts } = props;
  const { kind: words } = say().today;
  const most = Math.max(1, ...parts.map(({ all }) => all));
  return (
    <>
      <p class="legend">
        {kinds.map((kind) => (
          <span>
            <svg class="swatch" viewBox="0 0 1 1" aria-hidden="true">
              <rect class={kind} width="1" height="1" />
            </svg>
            {words[kind]}
          </span>
        ))}
      </p>
      <Drawn name={name} width={parts.length} top={countText(most)} labels={parts}>
        <pattern id="stripes" width="1" height="5" patternUnits="userSpaceOnUse">
          <rect class="stripe" width="1" height="2" />
        </pattern>
        {parts.map((part, index) => {
          let below = 100;
          return (
            <g>
              <title>{`${part.label}: ${countText(part.all)}`}</title>
              {kinds.map((kind) => {
                const height = (part[kind] / most) * 100;
                below -= height;
                return (
                  height > 0 && <rect class={kind} x={index + 0.1} y={below} width="0.8" height={height} />
                );
              })}
              {part.isOpen && (
                <rect fill="url(#stripes)" x={index + 0.1} y={below} width="0.8" height={100 - below} />
              )}
            </g>
          );
        })}
      </Drawn>
    </>
  );
}

/** A dot for each part with enough payments to have a rate. Lines join neighbours alone. */
export function Rates(props: {
  readonly name: string;
  readonly parts: readonly (Labelled & { readonly share: Share })[];
  /** Draws where the true rate lies, too. */
  readonly hasIntervals?: boolean;
}) {
  const { name, parts, hasIntervals } = props;
  const places = parts.map(({ share }, index) =>
    share.rate === undefined ? undefined : `${index + 0.5} ${100 - share.rate * 100}`,
  );
  return (
    <Drawn name={name} width={parts.length} top="100%" labels={parts}>
      {places.map((place, index) => {
        const before = places[index - 1];
        const { label = '', share } = parts[index] ?? {};
        return (
          place !== undefined && (
            <g>
              <title>{`${label}: ${percentText(share?.rate ?? 0)}`}</title>
              {hasIntervals && share && (
                <path
                  class="interval"
                  d={`M ${index + 0.5} ${100 - share.low * 100} V ${100 - share.high * 100}`}
                />
              )}
              {before !== undefined && <path class="line" d={`M ${before} L ${place}`} />}
              <path class="dot" d={`M ${place} h 0`} />
            </g>
          )
        );
      })}
    </Drawn>
  );
}

/** The longest is the height; longer than a minute is drawn as a minute. Lines join neighbours alone, and the second is dashed. */
export function Lines(props: {
  readonly name: string;
  readonly names: readonly string[];
  readonly parts: readonly (Labelled & { readonly values: readonly (number | null)[] })[];
  readonly text: (value: number) => string;
}) {
  const { name, names, parts, text } = props;
  const most = Math.max(1, ...parts.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const height = Math.min(most, 60_000);
  return (
    <>
      <p class="legend">
        {names.map((one, line) => (
          <span>
            <svg class="swatch" viewBox="0 0 1 1" aria-hidden="true">
              <path class={`line of${line}`} d="M 0 0.5 H 1" />
            </svg>
            {one}
          </span>
        ))}
      </p>
      <Drawn name={name} width={parts.length} top={text(most)} labels={parts}>
        {names.map((_, line) => {
          const places = parts.map(({ values }, index) => {
            const value = values[line] ?? undefined;
            return value === undefined
              ? undefined
              : `${index + 0.5} ${100 - Math.min(1, value / height) * 100}`;
          });
          return places.map((at, index) => {
            const before = places[index - 1];
            if (at === undefined) return null;
            return (
              <g>
                <title>{`${parts[index]?.label ?? ''}: ${text(parts[index]?.values[line] ?? 0)}`}</title>
                {before !== undefined && <path class={`line of${line}`} d={`M ${before} L ${at}`} />}
                <path class="dot" d={`M ${at} h 0`} />
              </g>
            );
          });
        })}
      </Drawn>
    </>
  );
}

/** It is stretched to the width of the page, so what has a shape of its own stands outside. */
function Drawn(props: {
  readonly name: string;
  readonly width: number;
  readonly top: string;
  readonly labels: readonly Labelled[];
  readonly children: ComponentChildren;
}) {
  const { name, width, top, labels, children } = props;
  return (
    <div class="drawn">
      <p class="soft top" aria-hidden="true">
        {top}
      </p>
      <svg role="img" aria-label={name} viewBox={`0 0 ${Math.max(1, width)} 100`} preserveAspectRatio="none">
        {[0, 50, 100].map((y) => (
          <path class="grid" d={`M 0 ${y} H ${width}`} />
        ))}
        {children}
      </svg>
      <p class="soft ends" aria-hidden="true">
        <span>{labels[0]?.label}</span>
        {labels.length > 1 && <span>{labels.at(-1)?.label}</span>}
      </p>
    </div>
  );
}

/** A bar in a row of a table, whose other cells have its figures. */
export function Bar({
  of,
  kind,
  interval,
}: {
  readonly of: number;
  readonly kind: string;
  readonly interval?: Share;
}) {
  return (
    <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="ground" width="100" height="10" />
      <rect class={kind} width={of * 100} height="10" />
      {interval && <path class="interval" d={`M ${interval.low * 100} 5 H ${interval.high * 100}`} />}
    </svg>
  );
}
