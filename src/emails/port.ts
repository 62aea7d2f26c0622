// What each module that writes emails to payers brings for them.
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { PayerEmail, WrittenEmail } from './domain/payer-email.ts';

export type EmailAuthor = {
  readonly write: (email: PayerEmail, now: Instant) => Promise<WrittenEmail>;
  /** In the transaction that records the result. What it returns runs after that. */
  readonly ended?: (tx: Database, email: PayerEmail, now: Instant) => Promise<(() => void) | undefined>;
};
