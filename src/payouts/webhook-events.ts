// Webhook events about withdrawals and destinations. The first event shows the whole object, later ones its ID and the change.
import { assetBody } from '../identities/api/shared-schema.ts';
import { failureBody, returnedBody } from './api/schema.ts';
import type { VariantsCodec } from '../platform/database/codec.ts';
import { filled, hasMembers, type Owner, type Topic } from '../platform/events/domain/topic.ts';
import {
  destinationFact,
  withdrawalFact,
  type DestinationLogFact,
  type WithdrawalLogFact,
} from './store/codec.ts';

/** The event types sent for a fact. Facts that are not here are internal and not sent. */
type EventTypes<Fact extends { readonly type: string }> = Partial<Record<Fact['type'], readonly string[]>>;
const withdrawalTypes: EventTypes<WithdrawalLogFact> = {
  withdrawal_started: ['WithdrawalStarted'],
  withdrawal_succeeded: ['WithdrawalSucceeded'],
  withdrawal_failed: ['WithdrawalFailed'],
  withdrawal_returned: ['WithdrawalReturned'],
};
const destinationTypes: EventTypes<DestinationLogFact> = {
  destination_created: ['DestinationCreated', 'DestinationUnauthorized'],
  destination_authorized: ['DestinationAuthorized'],
};

type WithdrawalTerms = Extract<WithdrawalLogFact, { terms: unknown }>['terms'];
type DestinationTerms = Extract<DestinationLogFact, { terms: unknown }>['terms'];

export const withdrawalsTopic: Topic = {
  name: 'WithdrawalsTopic',
  payloadTopic: 'WithdrawalTopic',
  aggregate: 'withdrawal',
  eventTypes: Object.values(withdrawalTypes).flat(),
  eventId: 'sequence',
  ...webhookEventsBy({
    codec: withdrawalFact,
    types: withdrawalTypes,
    termsIn: (fact) => (fact.type === 'withdrawal_started' ? fact.terms : undefined),
    ownersOf: ({ identityId, destinationIdentityId, walletId }) =>
      [identityId, destinationIdentityId ?? []].flat().map((id) => ({ id, part: walletId })),
    membersOf: withdrawalMembers,
  }),
};

export const destinationsTopic: Topic = {
  name: 'DestinationsTopic',
  payloadTopic: 'DestinationTopic',
  aggregate: 'destination',
  eventTypes: Object.values(destinationTypes).flat(),
  // The first log event makes two webhook events, which must not share an ID.
  eventId: 'position',
  ...webhookEventsBy({
    codec: destinationFact,
    types: destinationTypes,
    termsIn: (fact) => (fact.type === 'destination_created' ? fact.terms : undefined),
    ownersOf: ({ identityId }) => [{ id: identityId }],
    membersOf: destinationMembers,
  }),
};

/** For a log whose first fact has the terms. */
function webhookEventsBy<Fact extends { readonly type: string }, Terms>(log: {
  readonly codec: VariantsCodec<Fact>;
  readonly types: Partial<Readonly<Record<string, readonly string[]>>>;
  readonly termsIn: (fact: Fact) => Terms | undefined;
  readonly ownersOf: (terms: Terms) => readonly Owner[];
  readonly membersOf: (type: string, terms: Terms, fact: Fact) => Record<string, unknown>;
}): Pick<Topic, 'typesOf' | 'ownersOf' | 'webhookEventsOf'> {
  const { codec, types, termsIn, ownersOf, membersOf } = log;
  const typesOf = (fact: Fact) => types[fact.type] ?? [];
  const firstTerms = ([first]: readonly unknown[]) => {
    const terms = termsIn(codec.read(first));
    if (terms === undefined) throw new Error('the log does not begin with the creation of its object');
    return terms;
  };
  return {
    typesOf: (facts) => codec.known(facts).flatMap(typesOf),
    ownersOf: (facts) => ownersOf(firstTerms(facts)),
    webhookEventsOf: (events) => {
      const [first] = events;
      if (!first) return [];
      const terms = firstTerms(first.facts);
      return events.flatMap(({ sequence, createdAt, facts }) =>
        codec
          .known(facts)
          .flatMap((fact) => typesOf(fact).map((type) => ({ type, fact })))
          .map(({ type, fact }, index) => ({
            sequence,
            index,
            registeredType: type,
            eventType: type,
            happenedAt: createdAt,
            members: membersOf(type, terms, fact),
          })),
      );
    },
  };
}

function withdrawalMembers(
  type: string,
  terms: WithdrawalTerms,
  fact: WithdrawalLogFact,
): Record<string, unknown> {
  const { id, walletId: wallet, destinationId: destination, externalId: externalID } = terms;
  const body = assetBody(terms.amount);
  const { createdAt } = terms;
  const metadata = hasMembers(terms.metadata) ? terms.metadata : undefined;
  if (type === 'WithdrawalStarted') {
    return { withdrawal: filled({ id, createdAt, wallet, destination, body, metadata, externalID }) };
  }
  const fee = assetBody({ ...terms.amount, minor: terms.feeMinor });
  const failure = 'failure' in fact ? failureBody(fact) : undefined;
  const availableBy = 'availableBy' in fact ? fact.availableBy : undefined;
  const returned = 'returned' in fact ? returnedBody(fact.returned) : undefined;
  return filled({
    withdrawalID: id,
    externalID,
    wallet,
    destination,
    body,
    fee,
    failure,
    availableBy,
    returned,
  });
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
