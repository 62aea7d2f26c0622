// Codecs for what other modules store about a card, and about the browser it was entered in.
import { object, oneOf, optional, text, type Codec } from '../../platform/database/codec.ts';
import { paymentSystems, type CardDetails, type PaymentSystem } from '../domain/card.ts';
import type { ClientInfo } from '../domain/payment-resource.ts';

export const paymentSystem: Codec<PaymentSystem> = oneOf(...(Object.keys(paymentSystems) as PaymentSystem[]));
export const cardDetails: Codec<CardDetails> = object({
  bin: text,
  lastDigits: text,
  mask: text,
  paymentSystem,
});
export const clientInfo: Codec<ClientInfo> = object({ fingerprint: text, ip: text, url: optional(text) });
