// Whether the payer is authenticated: what the shop and the request want, and what the bank is asked.
import type { Exemption } from '../../../acquiring/domain/authentication.ts';
import type { WantedCharge } from '../../../acquiring/domain/missing-ability.ts';
import { defined } from '../../../defined.ts';
import type { ThreeDSecureWish } from '../../../merchants/domain/party.ts';
import type { MandateTerms } from '../../../receipts/domain/terms.ts';
import type { Payer } from '../payer/payer.ts';
import type { Payment, PaymentTerms } from '../payment.ts';

export type KeptWish = Pick<PaymentTerms, 'threeDSecure' | 'exemption'>;

/** Fixed when the payment is created. The limits against card testing win over the request, and the request over the shop. */
export function keptWish(given: {
  readonly request: ThreeDSecureWish | undefined;
  /** Of the request too, which then has no wish. */
  readonly exemption?: Exemption | undefined;
  readonly shop: ThreeDSecureWish;
  /** So many cards are declined in the shop that every payer has to authenticate. */
  readonly isChallenged: boolean;
}): KeptWish {
  if (given.exemption && !given.isChallenged) return { exemption: given.exemption };
  const wish = given.isChallenged ? 'always' : (given.request ?? given.shop);
  return wish === 'whenTheBankSays' ? {} : { threeDSecure: wish };
}

/** A payer who is absent cannot be authenticated. A card is saved only for one who was. */
export function authenticationOf({
  payer,
  makeRecurrent,
  threeDSecure,
  exemption,
  authenticated,
  isSteppedUp,
}: Pick<Payment, 'payer' | 'makeRecurrent' | 'isSteppedUp' | 'authenticated' | keyof KeptWish>):
  | 'required'
  | 'preferred'
  | 'none'
  | 'given' {
  if ('seriesId' in payer) return 'none';
  if (isSteppedUp) return 'required';
  if (authenticated || exemption) return 'given';
  if (makeRecurrent || threeDSecure === 'always') return 'required';
  return threeDSecure === 'never' ? 'none' : 'preferred';
}

/** What its bank must be able to do, also another one that stands in for it. */
export function wantedCharge({
  by,
  currency,
  network,
  flow,
  makeRecurrent,
  threeDSecure,
  exemption,
  authenticated,
  recurrentTerms,
  payer,
}: Pick<WantedCharge, 'by' | 'currency' | 'network'> &
  Pick<PaymentTerms, 'makeRecurrent' | keyof KeptWish> & {
    readonly flow: Pick<PaymentTerms['flow'], 'type'>;
    readonly authenticated?: object | undefined;
    readonly recurrentTerms?: MandateTerms;
    /** Who is charged without being present. */
    readonly payer?: Payer;
  }): WantedCharge {
  const isHosted = by === 'payer' && (makeRecurrent || threeDSecure === 'always');
  const charged = payer && 'seriesId' in payer ? payer : recurrentTerms;
  const reason = charged?.chargeReason;
  const authentication = authenticated || exemption ? 'given' : isHosted ? 'hosted' : undefined;
  return {
    by,
    currency,
    isHold: flow.type === 'hold',
    savesCard: makeRecurrent,
    ...defined({ network, authentication, reason }),
  };
}
