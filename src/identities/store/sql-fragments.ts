// SQL fragments that the stores of identities, wallets and payouts share.

/** `isBlocked` of a wallet or destination: the identity is blocked, or the party is blocked or suspended. */
export const isBlockedSql = 'identity.is_blocked or party.is_blocked or party.is_suspended as is_blocked';

/** Joins a row's identity and party. */
export function joinIdentity(table: string): string {
  return `join identity using (identity_id) join party on party.party_id = ${table}.party_id`;
}
