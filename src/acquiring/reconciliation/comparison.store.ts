// The bank's lines beside what our modules expect, in SQL, page by page in the order of aggregates. A page is a short statement on
// primary keys, whatever the size of the book, so that a walk through millions disturbs nobody. What is plainly equal is
// counted there; all else comes back in pairs, for src/acquiring/reconciliation/domain/difference.ts to classify.
import type { Database } from '../../platform/database/database.ts';
import {
  flag,
  instant,
  list,
  minorUnits,
  object,
  oneOf,
  optional,
  text,
  roughNumber,
  wholeNumber,
} from '../../platform/database/codec.ts';
import { statement, stored } from '../../platform/database/statement.ts';
import type { BankLine, ExpectedEntry, Pair } from './domain/difference.ts';
import { expectedColumns, type ReconciliationSource } from './domain/reconciliation-source.ts';

/** Aggregates by their ids, with both ends. */
export type Page = { readonly first: string; readonly last: string };

export type Comparison = {
  /** The page that begins there: of each table so many rows, or all of one aggregate where that has more. */
  pageFrom(db: Database, from: { runId: string; first: string; rows: number }): Promise<Page>;
  compare(
    db: Database,
    run: { readonly runId: string; readonly bankId: string },
    page: Page,
  ): Promise<{ readonly equal: number; readonly pairs: readonly Pair[] }>;
};

/** Ids are made of letters, digits, dots, dashes and underscores. */
export const beforeAllIds = ' ';
export const afterAllIds = '~';

const instantText = (column: string) =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
const digitsShown = (mask: string) => `left(${mask}, 6) || right(${mask}, 4)`;

/** What both sides have. The currency is as the bank says it. */
const content = {
  kind: text,
  sign: wholeNumber,
  minor: minorUnits,
  currency: text,
  originalId: optional(text),
  cardMask: optional(text),
};
const pair = object<Pair>({
  operationId: text,
  isCounterpartBooked: flag,
  ours: optional(
    object<ExpectedEntry>({
      ...content,
      bankId: optional(text),
      certainty: oneOf('done', 'open', 'never', 'undone', 'undoes', 'may'),
      object: text,
      objectId: text,
      status: text,
      partyId: text,
      askedAt: optional(instant),
      knownAt: optional(instant),
    }),
  ),
  line: optional(object<BankLine>({ ...content, sequence: roughNumber, copy: wholeNumber, at: instant })),
});

/** To be called once in a program: its statements have names. */
export function comparisonWith(rooms: readonly ReconciliationSource[]): Comparison {
  const columns = expectedColumns.join(', ');
  const endOf = (table: string, key: string, more = '') =>
    `(select ${key} from ${table} where ${more}${key} >= :first order by ${key} offset :rows limit 1)`;
  const findPageEnd = statement({
    name: 'find_end_of_reconciliation_page',
    parameters: { run_id: 'text', first: 'text', rows: 'int4' },
    row: { last: 'text?' },
    text: `
      select least(
        ${endOf('report_line', 'aggregate_id', 'run_id = :run_id and ')},
        ${rooms.map(({ table, key }) => endOf(table, key)).join(',\n        ')}) as last`,
  });

  const comparePage = statement({
    name: 'compare_with_bank',
    parameters: { run_id: 'text', bank_id: 'text', first: 'text', last: 'text' },
    row: { equal: 'int8', pairs: stored('json', list(pair)) },
    text: `
      with ours as (
        ${rooms.map(({ operations }) => `select ${columns} from (${operations}) as room`).join('\n        union all\n')}
      ), line as (
        select *, row_number() over (partition by operation_id order by sequence) as copy
        from report_line where run_id = :run_id and aggregate_id between :first and :last
      ), pair as (
        select operation_id, sequence,
          case
            when certainty is null then 'doubtful'
            when sequence is null and (bank_id is distinct from :bank_id or certainty in ('never', 'undone', 'undoes', 'may'))
              then 'silent'
            when certainty = 'done' and copy = 1 and bank_id = :bank_id
              and (line.kind, line.sign, line.amount_minor, line.currency) = (ours.kind, ours.sign, ours.amount_minor, ours.currency)
              and (line.original_id is null or line.original_id is not distinct from ours.original_id)
              and (line.card_mask is null or ours.card_mask is null
                or ${digitsShown('line.card_mask')} = ${digitsShown('ours.card_mask')})
              then 'equal'
            else 'doubtful'
          end as verdict,
          json_strip_nulls(json_build_object(
            'operationId', operation_id,
            'isCounterpartBooked',
              exists (select from line as other where other.operation_id = ours.counterpart_id),
            'ours', case when certainty is not null then json_build_object(
              'bankId', bank_id, 'kind', ours.kind, 'sign', ours.sign, 'minor', ours.amount_minor, 'currency', ours.currency,
              'originalId', ours.original_id, 'cardMask', ours.card_mask, 'certainty', certainty, 'object', object,
              'objectId', object_id, 'status', status, 'partyId', party_id, 'askedAt', ${instantText('asked_at')},
              'knownAt', ${instantText('known_at')}) end,
            'line', case when sequence is not null then json_build_object(
              'sequence', sequence, 'copy', copy, 'kind', line.kind, 'sign', line.sign, 'minor', line.amount_minor,
              'currency', line.currency, 'originalId', line.original_id, 'cardMask', line.card_mask,
              'at', ${instantText('booked_at')}) end)) as pair
        from ours full join line using (operation_id)
      )
      select count(*) filter (where verdict = 'equal') as equal,
        coalesce(json_agg(pair order by operation_id, sequence) filter (where verdict = 'doubtful'), '[]') as pairs
      from pair`,
  });

  return {
    async pageFrom(db, { runId, first, rows }) {
      const [row] = await db.run(findPageEnd, { run_id: runId, first, rows });
      return { first, last: row?.last ?? afterAllIds };
    },
    async compare(db, { runId, bankId }, { first, last }) {
      const [row] = await db.run(comparePage, { run_id: runId, bank_id: bankId, first, last });
      return { equal: Number(row?.equal ?? 0n), pairs: row?.pairs ?? [] };
    },
  };
}
