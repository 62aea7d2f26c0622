// Compares the bank's report lines with the modules' records in SQL, in pages small enough not to disturb other queries.
// Equal pairs are only counted; domain/difference.ts classifies the others.
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
import {
  certainties,
  type BankLine,
  type Certainty,
  type ExpectedEntry,
  type Pair,
} from './domain/difference.ts';
import { expectedColumns, type ReconciliationSource } from './source.store.ts';

/** A range of aggregate IDs, both ends included. */
export type Page = { readonly first: string; readonly last: string };

export type Comparison = {
  /** The page that starts at `first`: up to `rows` rows of each table, but never part of an aggregate. */
  pageFrom(db: Database, from: { runId: string; first: string; rows: number }): Promise<Page>;
  compare(
    db: Database,
    run: { readonly runId: string; readonly bankId: string },
    page: Page,
  ): Promise<{ readonly equal: number; readonly pairs: readonly Pair[] }>;
  /** What the module of the operation knows of it; undefined if no module knows it. */
  certaintyOf(db: Database, operationId: string): Promise<Certainty | undefined>;
};

/** Both lie outside the characters of an ID, which are `A-Z a-z 0-9 . - _`. */
export const beforeAllIds = ' ';
export const afterAllIds = '~';

/** The fields both sides have. The currency is as the bank reports it. */
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
      certainty: oneOf(...certainties),
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

/** Call it once per program, because its statements have names. */
export function comparisonWith(sources: readonly ReconciliationSource[]): Comparison {
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
        ${sources.map(({ table, key }) => endOf(table, key)).join(',\n        ')}) as last`,
  });

  const comparePage = statement({
    name: 'compare_with_bank',
    parameters: { run_id: 'text', bank_id: 'text', first: 'text', last: 'text' },
    row: { equal: 'int8', pairs: stored('json', list(pair)) },
    text: `
      with ours as (
        ${sources.map(({ operations }) => `select ${columns} from (${operations}) as source`).join('\n        union all\n')}
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
                or left(line.card_mask, 6) || right(line.card_mask, 4) = left(ours.card_mask, 6) || right(ours.card_mask, 4))
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
              'objectId', object_id, 'status', status, 'partyId', party_id, 'askedAt', instant_text(asked_at),
              'knownAt', instant_text(known_at)) end,
            'line', case when sequence is not null then json_build_object(
              'sequence', sequence, 'copy', copy, 'kind', line.kind, 'sign', line.sign, 'minor', line.amount_minor,
              'currency', line.currency, 'originalId', line.original_id, 'cardMask', line.card_mask,
              'at', instant_text(booked_at)) end)) as pair
        from ours full join line using (operation_id)
      )
      select count(*) filter (where verdict = 'equal') as equal,
        coalesce(json_agg(pair order by operation_id, sequence) filter (where verdict = 'doubtful'), '[]') as pairs
      from pair`,
  });

  const findExpected = statement({
    name: 'find_expected_operation',
    parameters: { operation_id: 'text', first: 'text', last: 'text' },
    row: { certainty: stored('text', oneOf(...certainties)) },
    text: `
      select certainty from (${sources.map(({ operations }) => `select ${columns} from (${operations}) as source`).join('\n        union all\n')}
      ) as ours where operation_id = :operation_id`,
  });

  return {
    async certaintyOf(db, operationId) {
      const [aggregateId = ''] = operationId.split('.');
      const asked = { operation_id: operationId, first: aggregateId, last: aggregateId };
      return (await db.run(findExpected, asked))[0]?.certainty;
    },
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
