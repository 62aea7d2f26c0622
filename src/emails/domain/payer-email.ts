// An email to a payer, written with its cause and sent by its job. What it says is known to the module that wrote it.
import type { Instant } from '../../clock.ts';
import type { Money } from '../../money.ts';

export const emailsAbout = ['receipt', 'subscription'] as const;
export type EmailAbout = (typeof emailsAbout)[number];

/** Of a receipt the invoice and its payment, or the customer and the binding. */
export type EmailKey = { readonly aggregateId: string; readonly emailId: string };

export type NewPayerEmail = EmailKey & {
  readonly about: EmailAbout;
  readonly partyId: string;
  readonly recipient: string;
  /** As it is stored. Older nodes store none of a receipt. */
  readonly content?: object;
  /** Of a receipt. */
  readonly paid?: {
    readonly at: Instant;
    readonly amount: Money;
    readonly reference: string;
    readonly approvalCode?: string;
  };
  /** Of the receipt of a series. */
  readonly seriesId?: string;
};

export type WrittenEmail = { readonly subject: string; readonly text: string; readonly html: string };

export type EmailEnd = {
  readonly status: 'kept' | 'sent' | 'refused';
  /** How the mail server rejected the address. */
  readonly refusal?: string;
};

export type PayerEmail = NewPayerEmail &
  Pick<EmailEnd, 'refusal'> & {
    readonly createdAt: Instant;
    readonly status: 'waiting' | EmailEnd['status'];
    /** Once it was rendered. */
    readonly written?: WrittenEmail;
    readonly endedAt?: Instant;
  };

/** Equal for every attempt. */
export function messageIdOf({
  about,
  aggregateId,
  emailId,
}: EmailKey & Pick<NewPayerEmail, 'about'>): string {
  return `${about}.${aggregateId}.${emailId}`;
}
