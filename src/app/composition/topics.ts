// What merchants get webhook events about: each module defines the topic of its own aggregates.
import { customersTopic } from '../../customers/webhook-events.ts';
import { invoicesTopic } from '../../payments/webhook-events.ts';
import { destinationsTopic, withdrawalsTopic } from '../../payouts/webhook-events.ts';
import type { Topic } from '../../platform/events/domain/topic.ts';
import { recurringTopic } from '../../recurring/webhook-events.ts';
import { subscriptionsTopic } from '../../subscriptions/webhook-events.ts';

export const topics: readonly Topic[] = [
  invoicesTopic,
  customersTopic,
  recurringTopic,
  subscriptionsTopic,
  withdrawalsTopic,
  destinationsTopic,
];
