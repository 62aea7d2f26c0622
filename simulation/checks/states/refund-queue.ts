// Refunds that wait for a shop's money get it in the order of their requests.
import { groupedBy, type Books, type Fact } from '../books.ts';
import type { Check, Problem } from '../check.ts';

type Queued = {
  readonly about: string;
  readonly shop: string;
  readonly askedAtMs: number;
  readonly waits: boolean;
  /** When it got its money: immediately, unless it waited. */
  readonly reservedAtMs: number | undefined;
  /** When it stopped waiting, with its money or without. */
  readonly leftAtMs: number;
};

/** A refund joins the queue when it is written. Clocks differ by four seconds at most, and a request takes ten. */
const marginMs = 15_000;

export const refundQueue: Check = {
  name: 'refund queue',
  says: 'no refund gets its money while an earlier one of the same shop waits for it',
  find({ books }) {
    const problems: Problem[] = [];
    for (const refunds of groupedBy(refundsIn(books), ({ shop }) => shop).values()) {
      for (const first of refunds.filter(({ waits }) => waits)) {
        for (const { about, askedAtMs, reservedAtMs } of refunds) {
          const isLater = askedAtMs > first.askedAtMs + marginMs;
          if (isLater && reservedAtMs !== undefined && first.leftAtMs > reservedAtMs + marginMs)
            problems.push([about, `it got its money before ${first.about}, which was waiting`]);
        }
      }
    }
    return problems;
  },
};

function refundsIn({ events, payments }: Books): Queued[] {
  const shops = new Map(
    payments.map((one) => [`${one.invoice_id}.${one.payment_id}`, `${one.party_id} ${one.shop_id}`]),
  );
  const facts = events.flatMap((event) =>
    event.facts
      .filter(({ type }) => type.startsWith('refund_'))
      .map((fact: Fact) => ({
        fact,
        payment: `${event.aggregate_id}.${String(fact['paymentId'])}`,
        atMs: Date.parse(event.created_at),
      })),
  );
  return facts.flatMap(({ fact, payment, atMs }) => {
    if (fact.type !== 'refund_started') return [];
    const refund = fact['refund'] as { id: string; createdAt: string; waitsUntil?: string };
    const later = facts.filter((one) => one.payment === payment && one.fact['refundId'] === refund.id);
    const funded = later.find((one) => one.fact.type === 'refund_funded');
    const waits = refund.waitsUntil !== undefined;
    return [
      {
        about: `refund ${payment}.${refund.id}`,
        shop: shops.get(payment) ?? '',
        askedAtMs: Date.parse(refund.createdAt),
        waits,
        reservedAtMs: waits ? funded?.atMs : atMs,
        leftAtMs: later[0]?.atMs ?? Infinity,
      },
    ];
  });
}
