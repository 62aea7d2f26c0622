// Who is calling: a merchant's server with an API key, or a browser with an access token for one entity.

export type TokenKind = 'invoice' | 'customer' | 'invoice-template';

/** What an access token is for. */
export type TokenSubject = {
  readonly kind: TokenKind;
  readonly entityId: string;
  readonly partyId: string;
  /** For a page only: it pays with the payer present, and charges no saved card. */
  readonly isFor?: 'checkout';
};

/** A token that once was good. Its secret matched, so its holder may learn why it is refused. */
export type RefusedToken = {
  readonly kind: 'refused';
  readonly why: 'expired' | 'otherMode' | 'revoked' | 'deleted';
  /** What an expired token was for. */
  readonly subject?: TokenSubject;
};

export type Caller =
  | {
      readonly kind: 'apiKey';
      readonly keyId: string;
      readonly partyId: string;
      readonly scopes: readonly string[];
    }
  | TokenSubject;
