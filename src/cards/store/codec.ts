// Codecs for what other modules store about a card, and about the browser it was entered in.
import {
  flag,
  object,
  oneOf,
  optional,
  text,
  wholeNumber,
  type Codec,
} from '../../platform/database/codec.ts';
import { paymentSystems, type CardDetails, type PaymentSystem } from '../domain/card.ts';
import type { BrowserFacts } from '../../acquiring/domain/payer-facts.ts';
import type { ClientInfo, EnteredWith } from '../domain/payment-resource.ts';

export const paymentSystem: Codec<PaymentSystem> = oneOf(...(Object.keys(paymentSystems) as PaymentSystem[]));
export const cardDetails: Codec<CardDetails> = object({
  bin: text,
  lastDigits: text,
  mask: text,
  paymentSystem,
});
export const browserFacts: Codec<BrowserFacts> = object({
  accept: optional(text),
  userAgent: optional(text),
  language: optional(text),
  javaEnabled: optional(flag),
  javaScriptEnabled: optional(flag),
  colorDepth: optional(wholeNumber),
  screenWidth: optional(wholeNumber),
  screenHeight: optional(wholeNumber),
  timeZoneOffset: optional(wholeNumber),
});

export const enteredWith: Codec<EnteredWith> = object({
  fingerprint: text,
  ip: text,
  url: optional(text),
  browser: optional(browserFacts),
  countedAs: optional(text),
});

export const clientInfo: Codec<ClientInfo> = object({ fingerprint: text, ip: text, url: optional(text) });
