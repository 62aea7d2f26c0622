// What the tables of searches should have, worked out from the API's own responses.
import type { CallOptions, TestService } from '../service/test-service.ts';

type Rows = readonly Record<string, any>[];
type Query = (text: string) => Promise<Rows>;
const tables = ['search_invoice', 'search_payment', 'search_refund'] as const;

/** All rows, as text in the order of their keys. */
export async function searchRows(query: Query): Promise<Record<string, Rows>> {
  const all = tables.map(async (table) => [table, await query(`select * from ${table} order by 1, 3, 4, 5`)]);
  return Object.fromEntries(await Promise.all(all)) as Record<string, Rows>;
}

const states: Record<string, string> = {
  authorising: 'pending',
  challenged: 'pending',
  reversing: 'pending',
  held: 'processed',
  capturing: 'processed',
  cancelling: 'processed',
  refunding: 'captured',
};

/** The rows that differ from what `GET` says of their objects, with both. Empty if all are right. */
export async function searchDifferences(
  query: Query,
  { call }: Pick<TestService, 'call'>,
  { token }: Required<Pick<CallOptions, 'token'>>,
): Promise<{ readonly checked: number; readonly differences: unknown[] }> {
  const get = async (path: string) => (await call('GET', `/v2/processing/${path}`, { token })).body;
  const rows = await searchRows(query);
  const expected: Record<string, unknown>[] = [];
  const actual: Record<string, unknown>[] = [];
  const invoices = await query('select invoice_id from invoice order by invoice_id');
  for (const { invoice_id: id } of invoices) {
    const invoice = await get(`invoices/${id}`);
    expected.push(shortOf({ id, shop: invoice.shopID, ...statedOf(invoice) }));
    for (const payment of await get(`invoices/${id}/payments`)) {
      const path = `${id}/payments/${payment.id}`;
      expected.push(shortOf({ id: path, shop: invoice.shopID, ...(await paymentOf(payment, get)) }));
      for (const refund of await get(`invoices/${path}/refunds`)) {
        const { status, createdAt, externalID: externalId } = refund;
        const { rrn, amount, currency } = refund;
        const said = { status, createdAt, externalId, amount, currency, rrn };
        expected.push(shortOf({ id: `${path}/${refund.id}`, shop: invoice.shopID, ...said }));
      }
    }
  }
  for (const row of Object.values(rows).flat()) {
    const { invoice_id, payment_id, refund_id, party_id: _, ...more } = row;
    const path = [invoice_id, ...(payment_id === undefined ? [] : ['payments', payment_id])].join('/');
    const id = refund_id === undefined ? path : `${path}/${refund_id}`;
    const { shop_id: shop, created_at: createdAt, amount_minor: amount, external_id: externalId } = more;
    const { customer_id: customerId, payment_system: paymentSystem, approval_code: approvalCode } = more;
    const { status, flow, email, ip, fingerprint, first6, last4, rrn, currency } = more;
    const { decline_class: declineClass, failure, bank_code: bankCode, attempt } = more;
    const said = { status: states[status] ?? status, createdAt, externalId };
    const searched = { flow, customerId, email, ip, fingerprint, first6, last4, paymentSystem };
    actual.push(
      shortOf({
        id,
        shop,
        ...said,
        ...(amount === undefined ? {} : { amount: Number(amount) }),
        ...searched,
        rrn,
        approvalCode,
        currency,
        declineClass,
        failure,
        bankCode,
        isRecurring: attempt === undefined ? undefined : attempt > 0,
      }),
    );
  }
  const byId = (list: Record<string, unknown>[]) => new Map(list.map((one) => [one['id'], one]));
  const [wanted, found] = [byId(expected), byId(actual)];
  const differences = [...new Set([...wanted.keys(), ...found.keys()])].flatMap((id) =>
    JSON.stringify(wanted.get(id)) === JSON.stringify(found.get(id))
      ? []
      : [{ wanted: wanted.get(id), found: found.get(id) }],
  );
  return { checked: expected.length, differences };
}

function statedOf({ status, createdAt, externalID: externalId, amount }: any) {
  return { status, createdAt, externalId, amount };
}

async function paymentOf(payment: any, get: (path: string) => Promise<any>) {
  const { payer, flow, transactionInfo } = payment;
  const parent = payer.recurrentParentPayment;
  const contact =
    payer.customerID === undefined
      ? payer.contactInfo
      : (await get(`customers/${payer.customerID}`)).contactInfo;
  const card =
    payer.paymentToolDetails ??
    (parent
      ? (await get(`invoices/${parent.invoiceID}/payments/${parent.paymentID}`)).payer.paymentToolDetails
      : undefined);
  return {
    ...statedOf(payment),
    flow: flow.type === 'PaymentFlowHold' ? 'hold' : 'instant',
    customerId: payer.customerID,
    email: contact?.email?.toLowerCase(),
    ip: payer.clientInfo?.ip,
    fingerprint: payer.clientInfo?.fingerprint,
    first6: card?.first6,
    last4: card?.last4,
    paymentSystem: card?.paymentSystem,
    rrn: transactionInfo?.rrn,
    approvalCode: transactionInfo?.approvalCode,
    currency: payment.currency,
    declineClass: payment.error?.declineClass,
    failure: payment.error && codesOf(payment.error).join(':'),
    bankCode: payment.error?.bank?.code,
    isRecurring: payer.payerType !== 'PaymentResourcePayer',
  };
}

function codesOf({ code, subError }: any): string[] {
  return [code, ...(subError ? codesOf(subError) : [])];
}

/** Without what is absent, in one order. */
function shortOf(row: Record<string, unknown>): Record<string, unknown> {
  const present = Object.entries(row).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(present.sort(([a], [b]) => (a < b ? -1 : 1)));
}
