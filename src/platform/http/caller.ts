// Who is calling: a merchant's server with an API key, or a browser with an access token for one entity.
import type { TokenSubject } from '../keys/access-token.ts';

export type Caller =
  | {
      readonly kind: 'apiKey';
      readonly keyId: string;
      readonly partyId: string;
      readonly scopes: readonly string[];
    }
  | TokenSubject;
