// What merchants are told about payouts: withdrawals, and the destinations they go to. The first notice of each shows all of
// it, the others name it and say what became of it.
import {
  filled,
  hasMembers,
  type LoggedEvent,
  type WebhookEvent,
  type Topic,
} from '../platform/events/domain/topic.ts';

/** As the log has it. */
type Failure = readonly [string, ...string[]];
type WithdrawalTerms = {
  readonly id: string;
  readonly identityId: string;
  readonly walletId: string;
  readonly destinationId: string;
  readonly destinationIdentityId?: string;
  readonly createdAt: string;
  readonly amountMinor: number;
  readonly currency: string;
  readonly feeMinor?: number;
  readonly metadata?: unknown;
  readonly externalId?: string;
};
type DestinationTerms = {
  readonly id: string;
  readonly identityId: string;
  readonly name: string;
  readonly currency: string;
  readonly card: { readonly bin: string; readonly lastDigits: string; readonly paymentSystem: string };
  readonly metadata?: unknown;
  readonly externalId?: string;
};
type Fact<Terms> = { readonly type: string; readonly terms?: Terms; readonly failure?: Failure };

/** What a fact is told as; what is not here is internal. */
const withdrawalTypes: Readonly<Record<string, readonly string[]>> = {
  withdrawal_started: ['WithdrawalStarted'],
  withdrawal_succeeded: ['WithdrawalSucceeded'],
  withdrawal_failed: ['WithdrawalFailed'],
};
const destinationTypes: Readonly<Record<string, readonly string[]>> = {
  destination_created: ['DestinationCreated', 'DestinationUnauthorized'],
  destination_authorized: ['DestinationAuthorized'],
};

export const withdrawalsTopic: Topic = {
  name: 'WithdrawalsTopic',
  payloadTopic: 'WithdrawalTopic',
  aggregate: 'withdrawal',
  eventTypes: Object.values(withdrawalTypes).flat(),
  eventId: 'sequence',
  typesOf: (facts) => facts.flatMap((fact) => withdrawalTypes[(fact as Fact<unknown>).type] ?? []),
  ownersOf: (first) => {
    const { identityId, destinationIdentityId, walletId } = termsIn(first) as WithdrawalTerms;
    return [identityId, destinationIdentityId ?? []].flat().map((id) => ({ id, part: walletId }));
  },
  webhookEventsOf: (log) => webhookEventsOf<WithdrawalTerms>(log, withdrawalTypes, withdrawalMembers),
};

export const destinationsTopic: Topic = {
  name: 'DestinationsTopic',
  payloadTopic: 'DestinationTopic',
  aggregate: 'destination',
  eventTypes: Object.values(destinationTypes).flat(),
  // The first event has two notices, which must not share their number.
  eventId: 'position',
  typesOf: (facts) => facts.flatMap((fact) => destinationTypes[(fact as Fact<unknown>).type] ?? []),
  ownersOf: (first) => [{ id: (termsIn(first) as DestinationTerms).identityId }],
  webhookEventsOf: (log) => webhookEventsOf<DestinationTerms>(log, destinationTypes, destinationMembers),
};

function termsIn(facts: readonly unknown[]): unknown {
  const { terms } = (facts[0] ?? {}) as Partial<Fact<unknown>>;
  if (terms === undefined) throw new Error('a log does not begin with the making of what it is about');
  return terms;
}

function webhookEventsOf<Terms>(
  log: readonly LoggedEvent<unknown>[],
  types: Readonly<Record<string, readonly string[]>>,
  membersOf: (type: string, terms: Terms, fact: Fact<Terms>) => Record<string, unknown>,
): WebhookEvent[] {
  const [first] = log;
  if (!first) return [];
  const terms = termsIn(first.facts) as Terms;
  return log.flatMap(({ sequence, createdAt, facts }) =>
    (facts as Fact<Terms>[])
      .flatMap((fact) => (types[fact.type] ?? []).map((type) => ({ type, fact })))
      .map(({ type, fact }, index) => ({
        sequence,
        index,
        registeredType: type,
        eventType: type,
        happenedAt: createdAt,
        members: membersOf(type, terms, fact),
      })),
  );
}

function withdrawalMembers(
  type: string,
  terms: WithdrawalTerms,
  fact: Fact<WithdrawalTerms>,
): Record<string, unknown> {
  const { id, walletId: wallet, destinationId: destination, externalId: externalID } = terms;
  const body = { amount: terms.amountMinor, currency: terms.currency };
  const { createdAt } = terms;
  const metadata = hasMembers(terms.metadata) ? terms.metadata : undefined;
  if (type === 'WithdrawalStarted') {
    return { withdrawal: filled({ id, createdAt, wallet, destination, body, metadata, externalID }) };
  }
  const fee = terms.feeMinor === undefined ? undefined : { amount: terms.feeMinor, currency: terms.currency };
  const failure = fact.failure && failureInNotice(fact.failure);
  return filled({ withdrawalID: id, externalID, wallet, destination, body, fee, failure });
}

function failureInNotice([code, ...inner]: Failure): Record<string, unknown> {
  const [next, ...rest] = inner;
  return next === undefined ? { code } : { code, subError: failureInNotice([next, ...rest]) };
}

function destinationMembers(type: string, terms: DestinationTerms): Record<string, unknown> {
  const { id, name, identityId: identity, currency, card, externalId: externalID } = terms;
  const metadata = hasMembers(terms.metadata) ? terms.metadata : undefined;
  if (type !== 'DestinationCreated') return filled({ destinationID: id, externalID });
  const { bin, lastDigits, paymentSystem } = card;
  const cardNumberMask = `${bin}******${lastDigits}`;
  const resource = { type: 'BankCard', cardNumberMask, bin, lastDigits, paymentSystem };
  return { destination: filled({ id, name, identity, currency, resource, metadata, externalID }) };
}
