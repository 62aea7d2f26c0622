// Reads of refunds. They are written with their payment, in payment-changes.ts.
import { bankWordsOf } from '../../acquiring/domain/bank-words.ts';
import { exchangeAnswer } from '../../acquiring/exchange-log/store/exchange-rows.ts';
import type { Database } from '../../platform/database/database.ts';
import { readByExternalId, type FoundByExternalId } from '../../platform/database/external-id.ts';
import { columnList, statement, stored, type Values } from '../../platform/database/statement.ts';
import { cart } from '../../invoices/store/codec.ts';
import { currency, oneOf } from '../../platform/database/codec.ts';
import { failure } from '../../acquiring/store/codec.ts';
import type { Refund } from '../domain/refund.ts';
import { defined } from '../../defined.ts';

export const refundStatus = stored('text', oneOf('pending', 'succeeded', 'failed'));

const columns = {
  invoice_id: 'text',
  payment_id: 'text',
  refund_id: 'text',
  created_at: 'timestamptz',
  status: refundStatus,
  amount_minor: 'int8',
  currency: stored('text', currency),
  fee_minor: 'int8',
  reason: 'text?',
  cart: stored('json?', cart),
  external_id: 'text?',
  failure: stored('json?', failure),
  waits_until: 'timestamptz?',
  rrn: 'text?',
  arn: 'text?',
} as const;
/** The words of the bank that declined it are in the exchange log alone. */
export const readRefundColumns = { ...columns, answer: exchangeAnswer } as const;
export const refundColumns = `${columnList(columns, 'refund')},
           (select answer from exchange where exchange.aggregate_id = refund.invoice_id
            and exchange.operation = refund.payment_id || '.' || refund.refund_id) as answer`;

const readRefunds = statement({
  name: 'read_refunds',
  parameters: { invoice_id: 'text', payment_id: 'text', refund_id: 'text?' },
  row: readRefundColumns,
  text: `select ${refundColumns} from refund
         where invoice_id = :invoice_id and payment_id = :payment_id and (:refund_id is null or refund_id = :refund_id)
         order by length(refund_id), refund_id`,
});

const readRefundByExternalId = readByExternalId({
  name: 'read_refund_by_external_id',
  operation: 'createRefund',
  row: readRefundColumns,
  select: refundColumns,
  join: `refund on invoice_id = split_part(entity_id, '.', 1) and payment_id = split_part(entity_id, '.', 2)
           and refund_id = split_part(entity_id, '.', 3)`,
});

export async function findRefunds(
  db: Database,
  name: { invoiceId: string; paymentId: string; refundId?: string },
): Promise<Refund[]> {
  const rows = await db.run(readRefunds, {
    invoice_id: name.invoiceId,
    payment_id: name.paymentId,
    refund_id: name.refundId ?? null,
  });
  return rows.map(refundFromRow);
}

export async function findRefundByExternalId(
  db: Database,
  partyId: string,
  externalId: string,
): Promise<FoundByExternalId<NamedRefund> | undefined> {
  const [row] = await db.run(readRefundByExternalId, { party_id: partyId, external_id: externalId });
  if (!row) return undefined;
  return { value: namedRefundFromRow(row), fingerprint: row.request_fingerprint };
}

/** A refund as it is shown apart from its payment. */
export type NamedRefund = Refund & { readonly invoiceId: string; readonly paymentId: string };

export function namedRefundFromRow(row: Values<typeof readRefundColumns>): NamedRefund {
  return { ...refundFromRow(row), invoiceId: row.invoice_id, paymentId: row.payment_id };
}

function refundFromRow({ answer, ...row }: Values<typeof readRefundColumns>): Refund {
  const { status, failure: why } = row;
  const terms = {
    id: row.refund_id,
    createdAt: row.created_at,
    amount: { minor: row.amount_minor, currency: row.currency },
    feeMinor: row.fee_minor,
    ...defined({
      reason: row.reason,
      cart: row.cart,
      externalId: row.external_id,
      waitsUntil: row.waits_until,
      rrn: row.rrn,
      arn: row.arn,
    }),
  };
  if (status !== 'failed') return { ...terms, status };
  if (why === null)
    throw new Error(
      `Refund ${row.refund_id} of invoice ${row.invoice_id} is stored as failed without a reason.`,
    );
  return { ...terms, status, failure: why, ...(answer?.outcome === 'declined' ? bankWordsOf(answer) : {}) };
}
