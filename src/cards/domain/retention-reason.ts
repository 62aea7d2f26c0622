// What a card in the vault is retained for: the payments, bindings and destinations created with it, each as a line of text. The same
// statement creates the object and retains the card, so no retained card lacks a reason.
export type RetentionReason = readonly [kind: 'payment' | 'binding' | 'destination', ...key: string[]];

export function retentionReasonText(reason: RetentionReason): string {
  return reason.join('/');
}

export function retentionReasonFrom(text: string): RetentionReason {
  const [kind = '', ...key] = text.split('/');
  if (kind !== 'payment' && kind !== 'binding' && kind !== 'destination')
    throw new Error(`A card is retained for "${text}", which is not a known reason.`);
  return [kind, ...key];
}

export const retainedCardParameters = { retained_card: 'text?', retained_for: 'text?' } as const;

/**
 * The part of a statement that retains a card of the party if `whileThereIs` has a row. It returns a row if the card still exists; the
 * card's job first runs in the minute after its token expires.
 */
export function retainCard(whileThereIs: string): string {
  return `update card
      set is_retained = true, wake_at = coalesce(wake_at, date_trunc('minute', valid_until) + interval '1 minute'),
          retained_for = (coalesce(retained_for::jsonb, '[]') || to_jsonb(:retained_for))::json
      from ${whileThereIs} where card_id = :retained_card and card.party_id = :party_id
      returning card_id`;
}
