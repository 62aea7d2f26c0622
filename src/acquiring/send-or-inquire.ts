// Lets a job send a bank operation without doing it twice: its ID is stored first, so any node can query the status.
import type { BankResponse } from './domain/bank-port.ts';

/** The bank's response proves nothing. The job is retried with growing delays, then stuck. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/**
 * Sends directly only when no node can have sent the operation before. Otherwise it queries the status and sends what
 * the bank never received, unless `refuse` returns a reason.
 */
export async function sendOrInquire<Refused = never>(
  isFirst: boolean,
  {
    send,
    inquire,
    refuse,
  }: {
    readonly send: () => Promise<BankResponse>;
    readonly inquire: () => Promise<BankResponse>;
    /** The reason not to send it any more; undefined to send it. */
    readonly refuse?: (notFound: BankResponse) => Refused | undefined | Promise<Refused | undefined>;
  },
): Promise<BankResponse | Refused> {
  if (isFirst) return send();
  const response = await inquire();
  if (response.outcome !== 'notFound') return response;
  return (await refuse?.(response)) ?? send();
}
