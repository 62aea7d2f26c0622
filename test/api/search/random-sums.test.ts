// Whatever was paid, and wherever a range begins and ends: the sums are those of the file at the same moment, to the last digit.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fetchExport } from '../../support/requests/exports.ts';
import { startTestService, type Merchant, type TestService } from '../../support/service/test-service.ts';

const month = { fromMs: Date.UTC(2026, 2, 1), lengthMicros: 31 * 86_400_000_000 };
const aMicro = fc.oneof(
  fc.integer({ min: 0, max: month.lengthMicros }),
  // Where a quarter of an hour begins.
  fc.integer({ min: 0, max: 31 * 96 }).map((quarter) => quarter * 900_000_000),
);
const aPayment = fc.record({
  at: aMicro.map(timeOf),
  status: fc.constantFrom('authorising', 'held', 'captured', 'refunding', 'refunded', 'cancelled', 'failed'),
  currency: fc.constantFrom('RUB', 'USD'),
  // A thousand of them add up to more than a number of JavaScript holds.
  amount: fc.bigInt({ min: 1n, max: 999_999_999_999_999n }).map(String),
  attempt: fc.nat({ max: 3 }),
  code: fc.constantFrom('51', '05', null),
});
// Two different ends: an empty range is refused.
const aRange = fc
  .uniqueArray(aMicro, { minLength: 2, maxLength: 2 })
  .map((ends) => ends.toSorted((one, other) => one - other).map(timeOf));

function timeOf(micros: number): string {
  const text = new Date(month.fromMs + Math.floor(micros / 1_000)).toISOString();
  return text.replace('Z', `${String(micros % 1_000).padStart(3, '0')}Z`);
}

let service: TestService;
let merchant: Merchant;
beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
  await service.search.whenIdle();
  await service.testDatabase.database.withClient(async (client) => {
    await client.query(
      `insert into search_payment (party_id, shop_id, invoice_id, payment_id, created_at, status, flow, amount_minor, currency, attempt,
         decline_class, failure, bank_code)
       select $1, 'TEST', 'I' || row_number() over (), '1', at, status, 'instant', amount, currency, attempt,
         case when status = 'failed' and code is not null then 'retryLater' end, case when status = 'failed' then 'a:b' end,
         case when status = 'failed' then code end
       from json_to_recordset($2) as paid (at timestamptz, status text, currency text, amount int8, attempt int, code text)`,
      [merchant.partyId, JSON.stringify(fc.sample(aPayment, 1_000))],
    );
    await client.query(
      `update search_position set resum_from = '{"partyId":"","shopId":"","at":"0001-01-01T00:00:00.000000Z"}'`,
    );
  });
  await service.search.whenIdle();
});
afterAll(() => service.close());

/** Without rounding. */
const exact = (text: string) => JSON.parse(text.replaceAll(/"(\w+)":(-?\d+)(?=[,}])/g, '"$1":"$2"'));

test('are those of the file', async () => {
  const ranges = [[timeOf(0), timeOf(month.lengthMicros)], ...fc.sample(aRange, 12)];
  for (const [fromTime = '', toTime = ''] of ranges) {
    const { rows, body } = await fetchExport(service, merchant, {
      of: 'payments',
      shopID: 'TEST',
      fromTime,
      toTime,
    });
    const sum = async (what: string) => {
      const path = `/v2/analytics/payments/${what}?fromTime=${fromTime}&toTime=${toTime}`;
      const { text } = await service.call('GET', path, { token: merchant.apiKey });
      const { result, asOf } = exact(text);
      expect(asOf).toBe(body.asOf);
      return inOrder(result);
    };
    const range = `${fromTime} ${toTime}`;
    const taken = rows.filter(({ status = '' }) => ['captured', 'refunded'].includes(status));
    expect(await sum('amount'), range).toEqual(groups(taken, ['currency'], ['amount']));
    expect(await sum('count'), range).toEqual(groups(rows, ['currency'], ['count']));
    const failed = rows
      .filter(({ status }) => status === 'failed')
      .map(({ bankCode, ...row }) => ({ ...row, code: bankCode ?? '' }));
    expect(await sum('declines'), range).toEqual(
      groups(failed, ['declineClass', 'code', 'currency'], ['count', 'amount']),
    );
    const attempts = (await sum('attempts')) as any[];
    expect(
      inOrder(attempts.map(({ attempt, currency, count }) => ({ attempt, currency, count }))),
      range,
    ).toEqual(groups(rows, ['attempt', 'currency'], ['count']));
  }
});

type Row = Readonly<Record<string, string>>;

/** What is empty in a file is absent in a sum. */
function groups(rows: readonly Row[], by: readonly string[], of: readonly ('count' | 'amount')[]): unknown[] {
  const all = new Map<string, { of: object; count: bigint; amount: bigint }>();
  for (const row of rows) {
    const named = Object.fromEntries(by.flatMap((name) => (row[name] ? [[name, row[name]]] : [])));
    const key = JSON.stringify(named);
    const { count, amount } = all.get(key) ?? { count: 0n, amount: 0n };
    all.set(key, { of: named, count: count + 1n, amount: amount + BigInt(row['amount'] ?? '') });
  }
  return inOrder(
    [...all.values()].map((one) => ({
      ...one.of,
      ...Object.fromEntries(of.map((name) => [name, String(one[name])])),
    })),
  );
}

function inOrder(rows: readonly object[]): unknown[] {
  const text = (row: object) => JSON.stringify(Object.entries(row).toSorted());
  return rows.toSorted((one, other) => (text(one) < text(other) ? -1 : 1));
}
