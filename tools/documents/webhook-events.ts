// docs/guide/webhook-events.md: every webhook event of every topic, when it is sent, and its body for an example log.
import { topics } from '../../src/app/composition/topics.ts';
import type { Topic, WebhookEvent } from '../../src/platform/events/domain/topic.ts';
import { bodyOf } from '../../src/webhooks/feed/message.ts';
import { exampleLogs } from './example-logs.ts';
import { codeBlock, printedFrom } from './markdown.ts';

const aboutTopics: Readonly<Record<Topic['name'], string>> = {
  InvoicesTopic:
    'Invoices of a shop, with their payments and refunds. Events of one invoice arrive in order.',
  CustomersTopic: 'Customers of a shop and their bindings. Events of one customer arrive in order.',
  RecurringTopic: 'Series of recurring charges of a shop. Events of one series arrive in order.',
  SubscriptionsTopic:
    'Subscriptions of a shop. Events of one subscription arrive in order. `subscription` is what `GET` shows right after the change, and `period` the period as the list of periods shows it. So the latest of each say all that the API says.',
  WithdrawalsTopic:
    'Payouts from the wallets of an identity, or from one of its wallets. In the body the topic is `WithdrawalTopic`, and `eventID` is a string that counts within the withdrawal.',
  DestinationsTopic:
    'Destinations of an identity. In the body the topic is `DestinationTopic`, and `eventID` is a string that counts within the destination.',
};

/** When each is sent, by the name it is registered by. */
const whenSent: Readonly<Record<string, string>> = {
  InvoiceCreated: 'An invoice was created.',
  InvoicePaid: 'A payment of the invoice was captured.',
  InvoiceFulfilled: 'You marked the invoice as fulfilled.',
  InvoiceCancelled: 'You cancelled the invoice, or its due date passed.',
  PaymentStarted: 'A payment was created.',
  PaymentUserInteractionRequested:
    'The payer has to confirm with their bank. `userInteractionDetails` is the `userInteraction` of the event that you can poll.',
  PaymentUserInteractionCompleted:
    'The payer came back from their bank, or the bank decided without that. The outcome follows.',
  PaymentProcessed: 'The bank approved the payment. With the hold flow the amount is now on hold.',
  PaymentCaptured: 'The bank captured the payment. `amount` is the captured amount.',
  PaymentCancelled: 'The hold was released. Nothing was charged.',
  PaymentRefunded: 'The whole captured amount was refunded.',
  PaymentFailed: 'The payment failed. `error` says why.',
  PaymentRefundCreated: 'A refund was created.',
  PaymentRefundSucceeded: 'The bank confirmed the refund.',
  PaymentRefundFailed: 'The refund failed. `error` says why.',
  SubscriptionCreated: 'A subscription was created.',
  SubscriptionStarted: 'Its first period starts.',
  SubscriptionPeriodCreated:
    'A period is due. With outcome `open` it is charged; `missed` and `skipped` periods are not, and a free one is `paid`.',
  SubscriptionChargeStarted: 'A charge of the period was started.',
  SubscriptionChargePostponed:
    'Nothing was sent to the bank, because a rule does not allow the charge now. Without `nextTryAt` no try is left.',
  SubscriptionChargeFailed:
    'The charge failed. `nextTryAt` is the next try, `triesLeft` how many follow with it if each fails in the same way, `graceUntil` the end of all tries. Without `nextTryAt`, only the payer or you can help: send the payer [a link to their page](payer/subscription.md). A decline by a mistake of yours or of the operator has no `triesLeft`.',
  SubscriptionTryRequested:
    'The period is tried at once. `by` is `merchant` if you asked for it, `newCard` after another card, and `newConsent` after a new consent of the payer.',
  SubscriptionPeriodPaid: 'The period was paid, by a charge or by the payer.',
  SubscriptionPeriodClosed: 'The period is not tried any more, and its invoice was cancelled.',
  SubscriptionPaymentTakenBack:
    'The bank took back what was paid for the period. It is `missed` until you charge or close it, and `unpaid` after the end.',
  SubscriptionUnpaid: 'The retries are over. Nothing is charged until the invoice of the period is paid.',
  SubscriptionPaused: 'The subscription was paused. Without `resumesAt`, until you resume it.',
  SubscriptionAnchorShifted: 'Periods are counted from `anchorOn` on.',
  SubscriptionResumed: 'The subscription continues.',
  SubscriptionEndScheduled: 'The `payer` or the `merchant` lets it end after the period `endsAfterPeriod`.',
  SubscriptionReasonGiven: 'The payer says on their page why they have ended it: `payerReason`.',
  SubscriptionEndTakenBack: 'It no longer ends after that period.',
  SubscriptionMissedPeriodCharged: 'You charge a period that was missed. It has an invoice now.',
  SubscriptionEnded: 'It ended. `endReason` [says why](recurring/subscription-emails.md#why-it-has-ended).',
  SubscriptionRefundStarted: 'Its end gives back `amount` of the payment.',
  SubscriptionRefundRefused:
    'Its end gives back nothing of the payment. `reason` is an error code, or `nothingToRefund`.',
  SubscriptionRefundFailed:
    'The bank has declined that refund, also after it had approved it: `reason`. The payer has not got the money.',
  SubscriptionChangeScheduled: 'It has other items from the next period.',
  SubscriptionChangeTakenBack: 'You took back what was scheduled: `items`. Those of the subscription stay.',
  SubscriptionChangeStarted:
    'You want other items now, and they are dearer. They apply when the invoice of the change is paid.',
  SubscriptionChangeChargeStarted: 'A charge of the invoice of the change was started.',
  SubscriptionChangeChargeFailed:
    'The change was not paid by the saved card. The payer can pay it until `payableUntil` of the change.' +
    ' With `reason` `held`, the card is charged again at `nextActionAt`, if that is before.',
  SubscriptionChangeDropped:
    'The change to `items` was not paid, or you took it back. The items of the subscription stay.',
  SubscriptionChanged: 'It has other items now. What they cost less than was paid is in `creditBalance`.',
  SubscriptionChangePaymentTakenBack:
    'The bank took back what was paid for a change. The items stay. No credit is left of it.',
  SubscriptionDetailsChanged: 'You changed what `changed` names: `metadata`, `catchUp` or `endsOn`.',
  SubscriptionTimeZoneChanged: 'Periods are of another time zone from the next one.',
  SubscriptionDunningPolicyChanged:
    'It has another dunning policy or version, for periods that fail from now on. After a move, for unpaid ones too.',
  SubscriptionParked:
    'Charging is stopped until you resume it, because something looks wrong. `parkedFor` says what.',
  SubscriptionUnparked: 'You resumed it, and charging continues.',
  SubscriptionChargeComing:
    'A charge comes that the payer must know of. With `by` as `email` Mandate writes to them, with `webhook` you do, and `none` reaches them.',
  SubscriptionAnnouncementEnded:
    'The announcement of a charge has reached the payer or you (`accepted`), or did not (`refused`). A charge that waits for it has another `nextTryAt`.',
  SubscriptionTrialEnding: 'As `SubscriptionChargeComing`, for the first charge after a trial.',
  CustomerCreated: 'A customer was created.',
  CustomerReady: 'The customer has an active binding and can be charged.',
  CustomerDeleted: 'You deleted the customer. The body shows it as it was before.',
  CustomerBindingStarted: 'A card is being saved.',
  CustomerBindingSucceeded:
    'The card is saved, and the bank confirmed the refund of the verification charge.',
  CustomerBindingFailed: 'The card was not saved. `error` says why.',
  SeriesStarted: 'The payer consented to recurring charges.',
  RecurringChargeStarted:
    'A recurring charge was created. `warnings` lists what can make it fail, if there is anything.',
  RecurringChargeSucceeded: 'The bank approved the recurring charge.',
  RecurringChargeFailed:
    'The recurring charge failed. `declineClass` says who can help. With `notBefore`, the next attempt is refused before that time by `rule` of `rulePack`.',
  RecurringChargeUnsent: 'The recurring charge was not sent to the bank. It does not count as an attempt.',
  ObligationEnded:
    'No charge of the series is to collect the invoice any more. What failed for it does not count for other invoices.',
  SeriesStopped:
    'The card network or the issuer ended the series. `rule` and `rulePack` say by which rule, `declineClass` who can help.',
  ConsentWithdrawn: 'The consent was revoked by the `payer`, the `merchant` or the `operator`.',
  ConsentRenewed: 'The payer consented again with the same card.',
  ParentAdded: 'A recurring charge can be the parent of the next one.',
  NoticeDue:
    'Something is about to happen at the time `about`. `notice` is `cardExpiring`, `gapNearing`, `rareChargeNearing`, `trialEnding`, `consentEnding` or `consentEnded`.',
  WithdrawalStarted: 'A payout was created.',
  WithdrawalSucceeded: 'The bank paid out.',
  WithdrawalFailed: 'The payout failed, and the money is in the wallet again. `failure` says why.',
  WithdrawalReturned:
    'The bank of the card sent money of the payout back. It is in the wallet again. The status stays, and `returned` says when, why and how much.',
  DestinationCreated: 'A destination was created.',
  DestinationUnauthorized:
    'Sent together with `DestinationCreated`: the bank has not confirmed the card yet. It does not mean that the bank refused.',
  DestinationAuthorized:
    'The bank confirmed the card. A refusal has no event: read `failure` of the destination.',
};

/** What the numbers of one example log begin at. */
const exampleBase = 491_520_000_000n;

export function webhookEventsText(): string {
  return `# Webhook events

${printedFrom('the topics of the modules and tools/documents/webhook-events.ts')}

Every event that a webhook can receive. How to register a webhook, verify signatures and handle repeats is in [webhooks.md](webhooks.md).

All bodies have \`eventID\`, \`occuredAt\`, \`topic\` and \`eventType\`. The objects show the state right after the event. Members without a
value are left out. Ignore members and event types that you do not know.

\`WebhookTest\` is the \`eventType\` of a test delivery (\`POST …/webhooks/{webhookID}/test\`). It has no object.

${topics.map(topicText).join('\n\n')}
`;
}

function topicText(topic: Topic): string {
  const events = (exampleLogs[topic.name] ?? []).flatMap((log) => topic.webhookEventsOf(log));
  const texts = topic.eventTypes.map((type) => {
    const event = events.find(({ registeredType }) => registeredType === type);
    const when = whenSent[type];
    if (!event || when === undefined) throw new Error(`${topic.name} ${type} has no example or no text`);
    return eventText(topic, event, when);
  });
  return `## ${topic.name}\n\n${aboutTopics[topic.name]}\n\n${texts.join('\n\n')}`;
}

function eventText(topic: Topic, event: WebhookEvent, when: string): string {
  const { registeredType, eventType } = event;
  const renamed = registeredType === eventType ? '' : ` In the body \`eventType\` is \`${eventType}\`.`;
  return `### ${registeredType}\n\n${when}${renamed}\n\n${codeBlock('json', bodyOf(topic, event, exampleBase))}`;
}
