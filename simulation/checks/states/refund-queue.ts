// Refunds that wait for a shop's money get it in the order of their requests.
import { groupedBy, type Books, type Fact } from '../rows.ts';
import type { Check, Problem } from '../check.ts';

/** Transaction numbers give the order in the database. The time of a request may be long ago when it writes. */
type Queued = {
  readonly about: string;
  readonly shop: string;
  readonly askedAtMs: number;
  readonly waits: boolean;
  readonly joined: number;
  /** It looked for others that wait after this. Without an Idempotency-Key nothing tells when, so it is 0. */
  readonly lookedAfter: number;
  /** When it got its money: immediately, unless it waited. */
  readonly took: number | undefined;
  /** When it stopped waiting, with its money or without. */
  readonly left: number;
};

/** The queue is in the order of the requests. Clocks differ by four seconds at most. */
const marginMs = 15_000;

export const refundQueue: Check = {
  name: 'refund queue',
  says: 'no refund gets its money while an earlier one of the same shop waits for it',
  find({ books }) {
    const problems: Problem[] = [];
    for (const refunds of groupedBy(refundsIn(books), ({ shop }) => shop).values()) {
      for (const first of refunds.filter(({ waits }) => waits)) {
        for (const { about, askedAtMs, lookedAfter, took } of refunds) {
          const isLater = askedAtMs > first.askedAtMs + marginMs && lookedAfter > first.joined;
          if (isLater && took !== undefined && took < first.left)
            problems.push([about, `it got its money before ${first.about}, which was waiting`]);
        }
      }
    }
    return problems;
  },
};

function refundsIn({ events, payments }: Pick<Books, 'events' | 'payments'>): Queued[] {
  const shops = new Map(
    payments.map((one) => [`${one.invoice_id}.${one.payment_id}`, `${one.party_id} ${one.shop_id}`]),
  );
  const facts = events.flatMap((event) =>
    event.facts
      .filter(({ type }) => type.startsWith('refund_'))
      .map((fact: Fact) => ({
        fact,
        payment: `${event.aggregate_id}.${String(fact['paymentId'])}`,
        transaction: event.transaction,
        part: event.part,
      })),
  );
  return facts.flatMap(({ fact, payment, transaction, part }) => {
    if (fact.type !== 'refund_started') return [];
    const refund = fact['refund'] as { id: string; createdAt: string; waitsUntil?: string };
    const later = facts.filter((one) => one.payment === payment && one.fact['refundId'] === refund.id);
    const funded = later.find((one) => one.fact.type === 'refund_funded');
    const waits = refund.waitsUntil !== undefined;
    // The key is claimed before the look, and the refund is written in a savepoint after it.
    const hasKey = transaction < part;
    return [
      {
        about: `refund ${payment}.${refund.id}`,
        shop: shops.get(payment) ?? '',
        askedAtMs: Date.parse(refund.createdAt),
        waits,
        joined: part,
        lookedAfter: waits ? part : hasKey ? transaction : 0,
        took: waits ? funded?.part : part,
        left: later[0]?.part ?? Infinity,
      },
    ];
  });
}
