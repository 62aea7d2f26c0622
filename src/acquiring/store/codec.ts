// Codecs of the bank data stored with payments, bindings and payouts.
import {
  flag,
  instant,
  list,
  minorUnits,
  notEmpty,
  object,
  oneOf,
  optional,
  recordOf,
  text,
  variants,
  type Codec,
} from '../../platform/database/codec.ts';
import type { Approval } from '../authorisation/domain/approval.ts';
import type { PaymentFailure } from '../authorisation/domain/payment-failure.ts';
import { authenticationWays, type AuthenticationResult } from '../domain/authentication.ts';
import { networkIdKinds, type NetworkId, type References } from '../domain/references.ts';
import type { BankWords } from '../domain/bank-words.ts';
import type {
  Interaction,
  MerchantFacts,
  PayoutRecipient,
  PayoutSender,
  Terminal,
} from '../domain/bank-port.ts';
import { senderFields, sourcesOfFunds, type PayoutTerminalTerms } from '../domain/routing/payout-terminal.ts';

export const merchantFacts: Codec<MerchantFacts> = object({
  mcc: optional(text),
  name: optional(text),
  city: optional(text),
  country: optional(text),
  url: optional(text),
  subMerchant: optional(text),
});

export const terminal: Codec<Terminal> = object({
  id: text,
  bankId: text,
  merchantId: text,
  descriptor: text,
  merchant: optional(merchantFacts),
});

export const references: Codec<References> = object({
  rrn: optional(text),
  acquirer: optional(text),
  arn: optional(text),
});

export const bankWords: Codec<BankWords> = object({ code: text, text: optional(text) });

export const networkId: Codec<NetworkId> = object({ kind: oneOf(...networkIdKinds), value: text });

export const authenticationResult: Codec<AuthenticationResult> = object({
  how: oneOf(...authenticationWays),
  version: optional(text),
  status: optional(text),
  dsTransId: optional(text),
  acsTransId: optional(text),
});

export const interaction: Codec<Interaction> = variants<Interaction, 'method'>('method', {
  GET: { url: text },
  POST: { url: text, form: list(object({ name: text, value: text })) },
});

export const approval: Codec<Approval> = object({
  reference: text,
  approvalCode: optional(text),
  networkTransactionId: optional(text),
  eci: optional(text),
  references: optional(references),
  networkIds: optional(list(networkId)),
  authenticated: optional(authenticationResult),
  liabilityShift: optional(flag),
});

export const failure: Codec<PaymentFailure> = notEmpty(list(text));

/** Of the state in which a bank waits for the payer. */
export const challengeMembers = { interaction, until: instant, isCompleted: optional(oneOf(true)) };

export const payoutTerminalTerms: Codec<PayoutTerminalTerms> = object({
  currencies: optional(recordOf(object<{ readonly maxMinor?: bigint }>({ maxMinor: optional(minorUnits) }))),
  demands: optional(recordOf(list(oneOf(...senderFields)))),
  sourceOfFunds: optional(oneOf(...sourcesOfFunds)),
  purposes: optional(list(text)),
});

export const payoutSender: Codec<PayoutSender> = object({
  name: optional(text),
  firstName: optional(text),
  lastName: optional(text),
  address: optional(text),
  city: optional(text),
  country: optional(text),
  birthDate: optional(text),
  nationality: optional(text),
  occupation: optional(text),
  account: optional(text),
  reference: text,
  sourceOfFunds: text,
});

export const payoutRecipient: Codec<PayoutRecipient> = object({
  firstName: optional(text),
  lastName: optional(text),
  country: optional(text),
});
