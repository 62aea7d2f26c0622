// How a job has a bank carry out an operation exactly once: the operation's ID is stored before the first send, so a node that
// does not know what another one did can ask.
import type { BankResponse } from './domain/bank-port.ts';

/** The bank's response proves nothing. The job is retried with growing delays, then stuck. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/**
 * Sends without asking only when no node can have sent it before. Otherwise it queries the status, and sends what the bank has never
 * received, unless `refuse` says why it is no longer wanted.
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
    /** Why it is not to be sent any more; undefined when it is. */
    readonly refuse?: (notFound: BankResponse) => Refused | undefined | Promise<Refused | undefined>;
  },
): Promise<BankResponse | Refused> {
  if (isFirst) return send();
  const response = await inquire();
  if (response.outcome !== 'notFound') return response;
  return (await refuse?.(response)) ?? send();
}
