// Security codes and their keys in SQL. A code is stored and read in one statement with its card, in cards/store/cards.ts.
import type { Instant } from '../../clock.ts';
import { statement } from '../../platform/database/statement.ts';

export type EncryptedCode = {
  readonly halfHour: number;
  readonly wrappedKey: Buffer;
  readonly ciphertext: Buffer;
  readonly expiresAt: Instant;
};

export const readCodeKey = statement({
  name: 'read_security_code_key',
  parameters: { half_hour: 'int4' },
  row: { wrapped: 'bytea' },
  text: 'select wrapped from security_code_key where half_hour = :half_hour',
});

/** Another node may be creating it too. The first one stands, and both get it, even if the row is deleted right after. */
export const insertCodeKey = statement({
  name: 'insert_security_code_key',
  parameters: { half_hour: 'int4', wrapped: 'bytea' },
  row: { wrapped: 'bytea' },
  text: `insert into security_code_key (half_hour, wrapped) values (:half_hour, :wrapped)
         on conflict (half_hour) do update set half_hour = excluded.half_hour
         returning wrapped`,
});

export const deleteOldCodeKeys = statement({
  name: 'delete_old_security_code_keys',
  parameters: { oldest: 'int4' },
  row: {},
  text: 'delete from security_code_key where half_hour < :oldest',
});

export const deleteExpiredCodes = statement({
  name: 'delete_expired_security_codes',
  parameters: { now: 'timestamptz', limit: 'int4' },
  row: { session_id: 'text' },
  text: `delete from security_code where session_id in
           (select session_id from security_code where expires_at <= :now limit :limit for update skip locked)
         returning session_id`,
});
