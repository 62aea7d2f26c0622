// Webhook events of a series. They show the same changes as its event feed, each with the series right after the change.
import { filled, type WebhookEvent, type Topic } from '../platform/events/domain/topic.ts';
import type { DeclineClass } from '../acquiring/domain/decline-class.ts';
import { evolve, type PaymentRef, type Series, type SeriesFact } from './domain/series.ts';
import { seriesFact } from './store/codec.ts';
import { defined } from '../defined.ts';

const changeTypes = {
  series_started: 'SeriesStarted',
  recurring_charge_started: 'RecurringChargeStarted',
  recurring_charge_succeeded: 'RecurringChargeSucceeded',
  recurring_charge_failed: 'RecurringChargeFailed',
  recurring_charge_unsent: 'RecurringChargeUnsent',
  obligation_ended: 'ObligationEnded',
  series_stopped: 'SeriesStopped',
  consent_withdrawn: 'ConsentWithdrawn',
  consent_renewed: 'ConsentRenewed',
  parent_added: 'ParentAdded',
  notice_due: 'NoticeDue',
} as const satisfies Record<SeriesFact['type'], string>;

export type SeriesChangeType = (typeof changeTypes)[SeriesFact['type']];
export const seriesChangeTypes: readonly SeriesChangeType[] = Object.values(changeTypes);

export type SeriesChange = {
  readonly changeType: SeriesChangeType;
  readonly payment?: { readonly invoiceID: string; readonly paymentID: string };
  /** What no charge is to collect any more. */
  readonly invoiceID?: string;
  readonly declineClass?: DeclineClass;
  readonly notBefore?: string;
  readonly rule?: string;
  readonly rulePack?: string;
  readonly warnings?: string[];
  readonly by?: string;
  readonly reason?: string;
  readonly notice?: string;
  readonly about?: string;
  readonly consentLinkID?: string;
};

export function seriesChangeOf(fact: SeriesFact): SeriesChange {
  const changeType = changeTypes[fact.type];
  const payment = 'paymentId' in fact ? { payment: paymentOf(fact) } : {};
  switch (fact.type) {
    case 'consent_renewed':
      return { changeType, ...defined({ consentLinkID: fact.mandate?.consent?.link }) };
    case 'series_started':
    case 'recurring_charge_succeeded':
    case 'recurring_charge_unsent':
    case 'parent_added':
      return { changeType, ...payment };
    case 'recurring_charge_started':
      return { changeType, ...payment, warnings: [...fact.warnings] };
    case 'recurring_charge_failed': {
      const { notBefore, declineClass } = fact;
      const wait = notBefore && { notBefore: notBefore.at, rule: notBefore.rule, rulePack: notBefore.pack };
      return { changeType, ...payment, ...defined({ declineClass }), ...wait };
    }
    case 'obligation_ended':
      return { changeType, invoiceID: fact.invoiceId };
    case 'series_stopped': {
      const { rule, pack: rulePack, declineClass } = fact;
      return { changeType, ...defined({ declineClass }), rule, rulePack };
    }
    case 'consent_withdrawn':
      return { changeType, by: fact.by, ...defined({ reason: fact.reason }) };
    case 'notice_due':
      return { changeType, notice: fact.notice.kind, about: fact.notice.about };
  }
}

export const recurringTopic: Topic = {
  name: 'RecurringTopic',
  payloadTopic: 'RecurringTopic',
  aggregate: 'series',
  eventTypes: seriesChangeTypes,
  eventId: 'number',
  typesOf(facts) {
    const known = seriesFact.known(facts);
    return known.some(isImport) ? [] : known.map(({ type }) => changeTypes[type]);
  },
  ownersOf: ([first]) => {
    const fact = seriesFact.read(first);
    if (fact.type !== 'series_started')
      throw new Error('The log of a series does not start with series_started.');
    return [{ id: fact.terms.shopId }];
  },
  webhookEventsOf(log) {
    let series: Series | undefined;
    return log.flatMap(({ sequence, createdAt: happenedAt, facts }) =>
      facts.flatMap((json, index): WebhookEvent | [] => {
        const fact = seriesFact.read(json);
        series = evolve(series, fact, happenedAt);
        if (isImport(fact)) return [];
        const { changeType, ...change } = seriesChangeOf(fact);
        const members = filled({ series: seriesPayload(series), ...change });
        return { sequence, index, registeredType: changeType, eventType: changeType, happenedAt, members };
      }),
    );
  },
};

/** What the payer agreed to elsewhere is news to no merchant. */
function isImport(fact: SeriesFact): boolean {
  return fact.type === 'series_started' && fact.terms.imported !== undefined;
}

/** No token, and only the card digits that a receipt shows. */
function seriesPayload(series: Series): Record<string, unknown> {
  const { id, shopId, card, state, failingSince } = series;
  return filled({
    id,
    shopID: shopId,
    status: state.name,
    ...beginningOf(series),
    card: { paymentSystem: card.paymentSystem, lastDigits: card.lastDigits, goodUntil: card.endsAt },
    consentedAt: series.consentedAt,
    lastSuccessAt: series.lastSuccessAt,
    failingSince,
    chargesMade: series.chargesMade,
  });
}

export function beginningOf({ root, latest }: Pick<Series, 'root' | 'latest'>) {
  if ('customerId' in root)
    return { rootBinding: { customerID: root.customerId, customerBindingID: root.bindingId } };
  return { rootPayment: paymentOf(root), latestParent: paymentOf(latest ?? root) };
}

function paymentOf({ invoiceId, paymentId }: PaymentRef) {
  return { invoiceID: invoiceId, paymentID: paymentId };
}
