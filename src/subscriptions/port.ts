// What other modules may use of subscriptions: the page on which payers look after theirs.
import type { Instant } from '../clock.ts';
import type { PayerLink } from './payer-link.ts';
import type { PayerView, TermsToAgree } from './domain/payer-view.ts';

/** What a saved card will be charged for, as a consent has it. */
export type NewCardTerms = {
  readonly schedule?: string;
  readonly amountRule?:
    | { readonly kind: 'fixed' | 'upTo'; readonly amountMinor: number }
    | { readonly kind: 'variable'; readonly text: string };
};

export type PayerOutcome =
  | { readonly did: 'nothing' | 'changed' | 'refused' | 'outdated' }
  /** `email`: where the payer has receipts sent. */
  | { readonly did: 'pay'; readonly invoiceId: string; readonly email?: string }
  /** Of what is paid. */
  | { readonly did: 'receipt'; readonly invoiceId: string }
  /** On a page for `terms` of the series. With the same name it is the same page. */
  | ({ readonly did: 'agree'; readonly named: string; readonly terms: TermsToAgree['after'] } & Pick<
      TermsToAgree,
      'seriesId'
    >)
  | { readonly did: 'newCard'; readonly customerId: string; readonly terms: NewCardTerms };

export type PayerPages = {
  /** The address to send the payer to. Any person who has it can act in the payer's name. */
  linkOf(subscriptionId: string, now: Instant): PayerLink;
  /** By the address of the page. Undefined if the secret is wrong, or the link has expired. */
  open(subscriptionId: string, secret: string): Promise<PayerView | undefined>;
  /** For the forms of the page. */
  tokenOf(view: PayerView): string;
  /** `nothing` if the page does not offer it any more, as after a second click; `outdated` if the page shows an older state. */
  act(
    view: PayerView,
    wish: {
      readonly act: string;
      readonly token: string;
      readonly reason?: string;
      readonly receipt?: string;
    },
  ): Promise<PayerOutcome>;
};

export { payerPath } from './payer-link.ts';
