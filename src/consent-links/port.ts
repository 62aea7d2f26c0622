// What other modules may use of consent links: the page on which a payer accepts new terms.
import type { Instant } from '../clock.ts';
import type { ClientInfo } from '../cards/domain/payment-resource.ts';
import type { Database } from '../platform/database/database.ts';
import type { Outcome } from '../refusal.ts';
import type { ReceiptLanguage } from '../receipts/domain/receipt.ts';
import type { ConsentLink, LinkState, NewTerms } from './domain/consent-link.ts';

/** What the payer agreed to, as the page showed it and the service received it. */
export type Agreement = {
  readonly text: string;
  readonly locale: string;
  readonly tickedAt: Instant;
  readonly userAgent: string;
  readonly clientInfo: ClientInfo;
};

/** New terms that a page of Mandate asks the payer to agree to. With the same name it is the same link. */
export type Offer = {
  readonly seriesId: string;
  readonly terms: NewTerms;
  readonly language: ReceiptLanguage;
  readonly named: string;
};

export type ConsentLinks = {
  /** The address of the page. Refused where `mayRenew` or the shop refuses. */
  offer(offer: Offer): Promise<Outcome<{ readonly url: string }, string>>;
  /** The address to send the payer to. Any person who has it can agree in the payer's name. */
  urlOf(linkId: string): string;
  /** Undefined if there is no such link. */
  find(db: Database, linkId: string, now?: Instant): Promise<LinkState | undefined>;
  /** The same for a link that was already read, or locked. */
  linkStateOf(db: Database, link: ConsentLink, now: Instant): Promise<LinkState>;
  /** By the address of the page. Undefined if the secret is wrong. */
  open(linkId: string, secret: string): Promise<LinkState | undefined>;
  /**
   * Begins the confirmation of the terms. If the link is not open it returns it as it is, so a second submit, or another
   * tab, begins nothing.
   */
  agree(
    linkState: LinkState,
    agreement: Agreement,
  ): Promise<Outcome<LinkState, 'operationNotPermitted' | 'tooManyBindings'>>;
};
