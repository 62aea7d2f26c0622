// What a card in the vault is kept for: the payment, the binding or the destination that was made with it, as a line of text
// each. Whoever makes one keeps the card in the same statement, so that there is never a kept card without a reason.
export type RetentionReason = readonly [kind: 'payment' | 'binding' | 'destination', ...key: string[]];

export function retentionReasonText(reason: RetentionReason): string {
  return reason.join('/');
}

export function retentionReasonFrom(text: string): RetentionReason {
  const [kind = '', ...key] = text.split('/');
  if (kind !== 'payment' && kind !== 'binding' && kind !== 'destination')
    throw new Error(`a card is kept for ${text}, which is nothing`);
  return [kind, ...key];
}

export const retainedCardParameters = { retained_card: 'text?', retained_for: 'text?' } as const;

/**
 * The part of a statement that keeps a card of the party, if there is a row in the common table expression `while`. It has a
 * row itself when the card is still there. From the minute in which its token is no good any more it is looked at
 * (cards/worker.ts). Uses the parameter :party_id.
 */
export function retainCard(whileThereIs: string): string {
  return `update card
      set is_retained = true, wake_at = coalesce(wake_at, date_trunc('minute', valid_until) + interval '1 minute'),
          retained_for = (coalesce(retained_for::jsonb, '[]') || to_jsonb(:retained_for))::json
      from ${whileThereIs} where card_id = :retained_card and card.party_id = :party_id
      returning card_id`;
}
