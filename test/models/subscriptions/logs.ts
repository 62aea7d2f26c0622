// A life as the simulation's checks see it: its log, its row and the rows of its periods.
import type { Seen } from '../../../simulation/checks/check.ts';
import type { EventRow, Fact, RefundRow, SubscriptionRow } from '../../../simulation/checks/rows.ts';
import { subscriptions } from '../../../simulation/checks/subscriptions/subscriptions.ts';
import { instantAt } from '../../../src/clock.ts';
import { nextAction } from '../../../src/subscriptions/domain/subscription.ts';
import type { Plan } from './plan.ts';
import { lifeOf } from './service.ts';

export type Kept = {
  facts: Fact[][];
  times: string[];
  row: SubscriptionRow;
  periods: Record<string, unknown>[];
  refunds: Pick<RefundRow, 'invoice_id' | 'payment_id' | 'refund_id' | 'status'>[];
  /** When the payer agreed again. */
  consents: string[];
};

function plain(value: unknown): unknown {
  const text = JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'bigint' ? Number(member) : member,
  );
  return JSON.parse(text);
}

export function keptOf(plan: Plan, life = lifeOf(plan)): Kept {
  const { log, subscription, rows } = life;
  const { phase, terms: _, ...state } = subscription;
  const started = log.flatMap(({ facts }) => facts.filter((one) => one.type === 'end_refund_started'));
  const kept = {
    facts: log.map(({ facts }) => facts),
    times: log.map(({ at }) => at),
    row: {
      subscription_id: 'S',
      phase,
      state,
      invoices: [...rows.values()].flatMap(({ invoiceId }) => invoiceId ?? []),
      wake_at: nextAction(subscription)?.at ?? null,
      stuck_at: null,
    },
    consents: plan.acts.flatMap(({ does, at }) => (does === 'consent' ? instantAt(at / 1_000) : [])),
    periods: [...rows.values()].map(({ number, outcome }) => ({ subscription_id: 'S', number, outcome })),
    refunds: started.map(({ invoiceId, paymentId, refundId }, place) => ({
      invoice_id: invoiceId,
      payment_id: paymentId,
      refund_id: refundId,
      status: life.failsRefund && place === 0 ? 'failed' : 'succeeded',
    })),
  };
  return plain(kept) as Kept;
}

export function problemsOf({ facts, times, row, periods, refunds, consents }: Kept): string[] {
  const given = consents.map((at): EventRow => {
    const numbers = { sequence: 1, transaction: 0, part: 0 };
    return {
      aggregate_id: 'C.1',
      aggregate: 'series',
      created_at: at,
      facts: [{ type: 'consent_renewed' }],
      ...numbers,
    };
  });
  const own = facts.map((of, place): EventRow => {
    const numbers = { sequence: place + 1, transaction: place, part: place };
    return { aggregate_id: 'S', aggregate: 'subscription', created_at: times[place]!, facts: of, ...numbers };
  });
  const events = [...given, ...own];
  const seen = { books: { events, periods, refunds, subscriptions: [row] }, isSettled: true };
  return subscriptions.find(seen as unknown as Seen).map(([, problem]) => problem);
}
