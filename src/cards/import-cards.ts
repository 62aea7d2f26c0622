// Cards that come with a file from another provider. A token of one is in no response until its binding is, and no request can use it.
import { epochMsOf, instantAt, type Clock, type Instant } from '../clock.ts';
import type { Ids } from '../ids.ts';
import type { Database } from '../platform/database/database.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { CardKeys } from './card-keys.ts';
import type { Card } from './domain/card.ts';
import { retentionReasonText } from './domain/retention-reason.ts';
import { encryptCard } from './encrypted-card.ts';
import { resourceFromRow, storeRetained, type RetainedCardRow } from './store/cards.ts';
import type { PaymentResource } from './domain/payment-resource.ts';
import { keptCard } from './tokenise.ts';

export type ImportedCard = {
  readonly partyId: string;
  readonly card: Card;
  /** Where the payer was when they entered it, as far as that is known. */
  readonly ip?: string;
  /** The binding that keeps it. */
  readonly binding: { readonly customerId: string; readonly bindingId: string };
};

/** Encrypted, and not yet stored. The hash is the same for every token of the number. */
export type PreparedCard = {
  readonly resource: PaymentResource;
  readonly numberHash: Buffer;
  readonly row: RetainedCardRow;
};

export type CardImport = {
  prepareImport(card: ImportedCard, now: Instant): Promise<PreparedCard>;
  /** In the transaction that writes the bindings. */
  storeImported(tx: Database, cards: readonly PreparedCard[]): Promise<void>;
};

export function openCardImport(options: {
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly keys: CardKeys;
  readonly standIn?: (number: string) => string | undefined;
}): CardImport {
  const { keyring, clock, ids, keys } = options;
  return {
    async prepareImport({ partyId, card, ip = '', binding }, now) {
      const numberHash = await keys.enteredHash(card);
      const owner = { cardId: ids.next(), partyId, purpose: 'payment' } as const;
      const key = keyring.newest('card');
      const row = {
        card_id: owner.cardId,
        party_id: partyId,
        session_id: ids.next(),
        made_for_kind: null,
        made_for_id: null,
        purpose: owner.purpose,
        stored_at: clock.now(),
        valid_until: now,
        ...(await keys.shownOf(card.number, card.expiry)),
        client_info: { ip, fingerprint: 'imported' },
        external_id: null,
        ciphertext: encryptCard(key, owner, await keptCard(options, card)),
        key_version: key.keyVersion,
        is_retained: true,
        retained_for: [retentionReasonText(['binding', binding.customerId, binding.bindingId])],
        wake_at: firstCheckAt(now, numberHash),
      };
      return { row, resource: resourceFromRow(row), numberHash };
    },
    storeImported: (tx, cards) =>
      storeRetained(
        tx,
        cards.map(({ row }) => row),
      ),
  };
}

const minuteMs = 60_000;
const minutesOfDay = 24 * 60;

/** On the next day, at a minute of its own: the cards of a large file are not all checked at once. */
function firstCheckAt(now: Instant, numberHash: Buffer): Instant {
  const minute = Math.floor(epochMsOf(now) / minuteMs) + minutesOfDay;
  return instantAt((minute + (numberHash.readUInt16BE() % minutesOfDay)) * minuteMs);
}
