// Requests about webhooks: create, delete, resume, replay, rotate keys.
import { recent, type Action, type Knowledge } from './knowledge.ts';

const webhooks = '/v2/processing/webhooks';
const walletWebhooks = '/wallet/v0/webhooks';
/** Each webhook has its own address, so that deliveries can be matched to it. */
let addresses = 0;

const allEventTypes = {
  InvoicesTopic: [
    'InvoiceCreated',
    'InvoicePaid',
    'InvoiceCancelled',
    'InvoiceFulfilled',
    'PaymentStarted',
    'PaymentProcessed',
    'PaymentCaptured',
    'PaymentCancelled',
    'PaymentRefunded',
    'PaymentFailed',
    'PaymentRefundCreated',
    'PaymentRefundSucceeded',
    'PaymentRefundFailed',
  ],
  CustomersTopic: [
    'CustomerCreated',
    'CustomerReady',
    'CustomerDeleted',
    'CustomerBindingStarted',
    'CustomerBindingSucceeded',
    'CustomerBindingFailed',
  ],
} as const;

export function forgetAddresses(): void {
  addresses = 0;
}

export function nextAddress(): string {
  return `https://receiver.example/${++addresses}`;
}

const learnFor = (known: Knowledge) => (answer: { id: string }) => void known.webhooks.push(answer.id);

export const webhookActions: readonly Action[] = [
  {
    name: 'create a webhook',
    weight: 0.8,
    wish: (known, chance) => {
      if (known.webhooks.length > 5) return undefined;
      const topic = chance.oneOf(['InvoicesTopic', 'CustomersTopic'] as const);
      const eventTypes = chance.isTrue(0.7)
        ? allEventTypes[topic]
        : allEventTypes[topic].filter(() => chance.isTrue(0.5));
      const scope = { topic, shopID: 'TEST', eventTypes };
      return {
        method: 'POST',
        path: webhooks,
        body: { scope, url: nextAddress() },
        isUnique: true,
        learn: learnFor(known),
      };
    },
  },
  {
    name: 'create a webhook of an identity',
    weight: 0.4,
    wish: (known, chance) => {
      const identityID = recent(known.identities, chance);
      if (!identityID || known.webhooks.length > 7) return undefined;
      const scope = chance.isTrue(0.6)
        ? {
            topic: 'WithdrawalsTopic',
            eventTypes: ['WithdrawalStarted', 'WithdrawalSucceeded', 'WithdrawalFailed'],
          }
        : {
            topic: 'DestinationsTopic',
            eventTypes: ['DestinationCreated', 'DestinationUnauthorized', 'DestinationAuthorized'],
          };
      return {
        method: 'POST',
        path: walletWebhooks,
        body: { identityID, scope, url: nextAddress() },
        isUnique: true,
        learn: ({ id }) => known.walletWebhooks.push({ identity: identityID, id }),
      };
    },
  },
  {
    name: 'look at a webhook of an identity, or delete it',
    weight: 0.3,
    wish: (known, chance) => {
      const webhook = recent(known.walletWebhooks, chance);
      if (!webhook) return undefined;
      const ofIdentity = `?identityID=${webhook.identity}`;
      const path = `${walletWebhooks}/${webhook.id}${ofIdentity}`;
      const what = chance.oneOf(['list', 'list', 'get', 'get', 'delete'] as const);
      if (what === 'list') return { method: 'GET', path: walletWebhooks + ofIdentity };
      return { method: what === 'get' ? 'GET' : 'DELETE', path };
    },
  },
  {
    name: 'change a webhook',
    weight: 0.6,
    wish: (known, chance, now) => {
      const webhook = recent(known.webhooks, chance);
      if (!webhook) return undefined;
      const path = `${webhooks}/${webhook}`;
      const what = chance.oneOf(['resume', 'resume', 'replay', 'rotate-keys', 'test'] as const);
      if (what === 'test') return { method: 'POST', path: `${path}/test` };
      if (what !== 'replay') return { method: 'POST', path: `${path}/${what}`, body: {} };
      const since = new Date(Date.parse(now()) - 60_000).toISOString();
      return { method: 'POST', path: `${path}/replay`, body: { since } };
    },
  },
  {
    name: 'delete a webhook',
    weight: 0.1,
    wish: (known, chance) => {
      const webhook = recent(known.webhooks, chance);
      return webhook === undefined ? undefined : { method: 'DELETE', path: `${webhooks}/${webhook}` };
    },
  },
  {
    name: 'look at a webhook',
    weight: 0.5,
    wish: (known, chance) => {
      const webhook = recent(known.webhooks, chance);
      const what = chance.oneOf(['', '/queues', '/attempts?limit=10']);
      return webhook === undefined ? undefined : { method: 'GET', path: `${webhooks}/${webhook}${what}` };
    },
  },
];
