// Validates a message and builds the operation the simulated bank stores, without card number and security code.
// A keyed digest of the content shows whether a repeat is the same message.
import { createHmac } from 'node:crypto';
import { Compile } from 'typebox/compile';
import {
  operationSchemas,
  type OperationKind,
  type OperationMessage,
} from '../../acquiring/adapters/http/messages.ts';
import type { Operation } from './state/state.ts';
import { cardForPayment } from './test-cards.ts';
import { defined } from '../../defined.ts';

const checks = {
  authorise: Compile(operationSchemas.authorise),
  capture: Compile(operationSchemas.capture),
  reverse: Compile(operationSchemas.reverse),
  refund: Compile(operationSchemas.refund),
  payout: Compile(operationSchemas.payout),
  verify: Compile(operationSchemas.verify),
};

export type Read = { readonly message: OperationMessage } | { readonly field: string };

/** Returns the message, or the name of the wrong field, never its value: it may be a card number. */
export function readMessage(body: unknown): Read {
  if (typeof body !== 'object' || body === null) return { field: 'body' };
  const kind = 'kind' in body ? body.kind : undefined;
  if (!isKind(kind)) return { field: 'kind' };
  const check = checks[kind];
  if (check.Check(body)) return { message: body };
  const [first] = check.Errors(body);
  const missing = first?.keyword === 'required' ? `/${first.params.requiredProperties[0]}` : '';
  const path = `${first?.instancePath ?? ''}${missing}`.slice(1).replaceAll('/', '.');
  return { field: path === '' ? 'body' : path };
}

function isKind(kind: unknown): kind is OperationKind {
  return typeof kind === 'string' && Object.hasOwn(checks, kind);
}

export function operationOf(operationId: string, message: OperationMessage, key: Buffer): Operation {
  const { kind, merchant, callbackUrl } = message;
  const number = 'card' in message ? message.card.number : undefined;
  const fingerprint = number === undefined ? undefined : keyed(key, `card|${number}`);
  const common = {
    operationId,
    kind,
    merchantId: merchant.id,
    descriptor: merchant.descriptor,
    digest: keyed(key, `message|${JSON.stringify(significant(message))}`),
    ...laterDigestsOf(message, key),
    ...defined({ callbackUrl }),
    ...(number === undefined || fingerprint === undefined
      ? {}
      : { card: { mask: maskOf(number), fingerprint, network: cardForPayment(number).network } }),
  };
  if (message.kind === 'reverse') {
    const { originalOperationId, amount, currency } = message;
    return { ...common, originalOperationId, ...defined({ amount, currency }) };
  }
  if (message.kind === 'verify') return { ...common, currency: message.currency };
  const { amount, currency } = message;
  const money = { amount, currency };
  switch (message.kind) {
    case 'authorise': {
      const { by, storesCard } = message.initiation;
      const isStoredCredential = by === 'merchant' || storesCard === true;
      const { capture, authenticationAmount } = message;
      return {
        ...common,
        ...money,
        capture,
        ...defined({ authenticationAmount }),
        ...(isStoredCredential ? { isStoredCredential } : {}),
      };
    }
    case 'payout':
      return { ...common, ...money };
    case 'capture': {
      const { originalOperationId, final } = message;
      return { ...common, ...money, originalOperationId, ...defined({ final }) };
    }
    case 'refund':
      return { ...common, ...money, originalOperationId: message.originalOperationId };
  }
}

/** Of the fields that change what is done. Another version of the client may leave them out of a repeat. */
function laterDigestsOf(message: OperationMessage, key: Buffer): Pick<Operation, 'laterDigests'> {
  const fields = Object.entries(laterFieldsOf(message)).filter(([, value]) => value !== undefined);
  if (fields.length === 0) return {};
  const digest = (name: string, value: unknown) => keyed(key, `${name}|${JSON.stringify(value)}`);
  return {
    laterDigests: Object.fromEntries(fields.map(([name, value]) => [name, digest(name, value)])),
  };
}

function laterFieldsOf(message: OperationMessage): Record<string, unknown> {
  switch (message.kind) {
    case 'authorise': {
      const { initiation, authenticated, exemption } = message;
      const { rootNetworkIds, previousNetworkIds, stores, usesStored, amount, sequence, resubmission } =
        initiation;
      const agreed = { rootNetworkIds, previousNetworkIds, usesStored, sequence, resubmission };
      // Its last day follows the time zone of the shop, which may change.
      const stored = stores && { ...stores, until: undefined };
      return { ...agreed, stores: stored, amountRule: amount, authenticated, exemption };
    }
    case 'capture':
      return { final: message.final };
    case 'reverse':
      return { part: message.amount };
    case 'payout':
      return { purpose: message.purpose, recipient: message.recipient };
    default:
      return {};
  }
}

/** Whether the messages under one ID are the same. */
export function isSameContent(first: Operation, again: Operation): boolean {
  const { laterDigests: later = {} } = again;
  return (
    first.digest === again.digest &&
    Object.entries(first.laterDigests ?? {}).every(([name, digest]) => (later[name] ?? digest) === digest)
  );
}

/**
 * The content that must be equal in a repeat. A repeat has no security code and may have other URLs, so neither these
 * nor the payer's data count.
 */
function significant(message: OperationMessage): unknown[] {
  const { kind, merchant } = message;
  const common = [kind, merchant.id, merchant.terminal];
  switch (message.kind) {
    case 'authorise': {
      const { amount, currency, capture, card, initiation, authentication, authenticationAmount } = message;
      const { by, storesCard, reason, rootNetworkTransactionId, previousNetworkTransactionId } = initiation;
      return [
        ...common,
        {
          amount,
          currency,
          capture,
          authentication,
          ...defined({ authenticationAmount }),
          number: card.number,
          expiry: card.expiry,
        },
        {
          by,
          storesCard: storesCard ?? false,
          reason,
          rootNetworkTransactionId,
          previousNetworkTransactionId,
        },
      ];
    }
    case 'payout':
      return [...common, message.amount, message.currency, message.card.number];
    case 'verify':
      return [...common, message.currency, message.card.number];
    case 'reverse':
      return [...common, message.originalOperationId];
    case 'capture':
    case 'refund':
      return [...common, message.amount, message.currency, message.originalOperationId];
  }
}

function keyed(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

function maskOf(number: string): string {
  return `${number.slice(0, 6)}${'*'.repeat(number.length - 10)}${number.slice(-4)}`;
}

/** An unguessable name for a challenge, as a UUID because 3-D Secure requires one. */
export function ticketOf(operationId: string, key: Buffer): string {
  const hex = createHmac('sha256', key).update(`ticket|${operationId}`).digest('hex');
  const variant = ((parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    variant + hex.slice(18, 20),
    hex.slice(20, 32),
  ].join('-');
}
