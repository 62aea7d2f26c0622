// Takes a card and what waits for its next message out of the vault, for the bank adapter.
import type { Clock } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Database } from '../platform/database/database.ts';
import type { CardKeys } from './card-keys.ts';
import type { Card } from './domain/card.ts';
import { cardIdOf, sessionIdOf } from './domain/payment-resource.ts';
import type { CodeOwner, SecurityCodes } from './security-codes.ts';
import { storeCode, takeCardOut } from './store/cards.ts';
import type { EncryptedCode } from './store/security-codes.ts';

/** A card in the clear, on its way into a message to the bank. */
export type DetokenisedCard = Card & {
  readonly securityCode?: string;
  /** Comes with either. For a message of which no byte was sent: they are stored again for the rest of their time. */
  readonly returnCode?: () => Promise<void>;
  /** Proves an authentication elsewhere, once. It is returned with the code. */
  readonly authenticationValue?: string;
};

/**
 * The number, the security code of the session, and the value of the authentication. Both are deleted, so a message that is sent again
 * has neither, unless `returnCode` has stored them again.
 */
export type Detokenise = (card: {
  readonly token: string;
  readonly session?: string;
  readonly authentication?: string;
}) => Promise<DetokenisedCard>;

export function openDetokenising(options: {
  readonly db: Database;
  readonly clock: Clock;
  readonly keys: CardKeys;
  readonly codes: SecurityCodes;
}): Detokenise {
  const { db, clock, keys, codes } = options;

  /** It is deleted before it is used, so that a crash can only lose it. If it was not used it is stored again, once. */
  function secretOf(owner: CodeOwner, code: EncryptedCode) {
    let isBack = false;
    return {
      clear: () => codes.decrypt(owner, code),
      async giveBack() {
        if (isBack || code.expiresAt <= clock.now()) return;
        isBack = true;
        await storeCode(db, owner, code);
      },
    };
  }

  return async ({ token, session, authentication }) => {
    // No token in an error message: it stays valid for up to an hour.
    const cardId = cardIdOf(token);
    if (cardId === undefined) throw new Error('The token of a card is not valid.');
    const sessionId = session === undefined ? undefined : sessionIdOf(session);
    const taken = await takeCardOut(db, cardId, defined({ session: sessionId, authentication }));
    if (!taken) throw new Error('The card is not in the vault.');
    const { partyId, browser } = taken;
    const waiting = (name: string | undefined, secret: EncryptedCode | undefined) =>
      name === undefined || !secret ? undefined : secretOf({ cardId, sessionId: name, partyId }, secret);
    const code = waiting(sessionId, taken.code);
    const proof = waiting(authentication, taken.authentication);
    const returnCode = async () => void (await Promise.all([code?.giveBack(), proof?.giveBack()]));
    const { enteredHash: _, ...card } = await keys
      .open({ cardId, ...taken }, taken)
      .catch(async (error: unknown) => {
        await returnCode();
        throw error;
      });
    const [securityCode, authenticationValue] = [await code?.clear(), await proof?.clear()];
    return {
      ...card,
      ...defined({ browser, securityCode, authenticationValue }),
      ...((securityCode ?? authenticationValue) === undefined ? {} : { returnCode }),
    };
  };
}
