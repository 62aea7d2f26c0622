// Until when an authorisation is sent, for the first time or again. After that the bank is only asked, and the charge taken back.
import { laterBy, type Instant } from '../../../clock.ts';

/** A payer who has waited longer has left, and may be paying in another way. */
const afterPayerActedMs = 3 * 60_000;

/** Without a payer, the deadline alone. A challenge has its own time, because nothing is sent after it. */
export function sendUntil({
  payerActedAt,
  deadline,
}: {
  readonly payerActedAt?: Instant;
  readonly deadline: Instant;
}): Instant {
  if (payerActedAt === undefined) return deadline;
  const patience = laterBy(payerActedAt, afterPayerActedMs);
  return patience < deadline ? patience : deadline;
}
