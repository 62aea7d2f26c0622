// Results of 3-D Secure: those that a merchant obtained elsewhere, and those that a bank reports.
import type { Instant } from '../../clock.ts';

/** Without its value, which is as secret as a password for one charge: the card reference names where it waits. */
export type AuthenticationGiven =
  | {
      /** Of 3-D Secure, such as 2.2.0. */
      readonly version: string;
      /** The transaction status: Y is authenticated, A attempted. */
      readonly status: string;
      readonly eci: string;
      readonly dsTransId: string;
      readonly acsTransId?: string;
      readonly at: Instant;
    }
  | { readonly exemption: Exemption };

export const exemptions = [
  'lowValue',
  'secureCorporate',
  'trustedBeneficiary',
  'transactionRiskAnalysis',
] as const;
export type Exemption = (typeof exemptions)[number];

export const authenticationWays = ['challenge', 'frictionless', 'attempt', 'none'] as const;

/** Evidence of the payer's consent, and the input of a later authentication without the payer. */
export type AuthenticationResult = {
  readonly how: (typeof authenticationWays)[number];
  readonly version?: string;
  readonly status?: string;
  readonly dsTransId?: string;
  readonly acsTransId?: string;
};
