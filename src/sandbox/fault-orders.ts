// Hands the order of a fault on to a simulated bank.
import { openLink, type OpenLink } from '../acquiring/adapters/http/link.ts';
import type { BankSettings } from '../acquiring/banks.ts';

/** False if the bank takes no such order, as one that is not simulated, or cannot be reached. */
export type HandOnFault = (bankId: string, order: object) => Promise<boolean>;

const connectMs = 2_000;
const answerMs = 10_000;

export function handOnFaults(
  settingsOf: (bankId: string) => Promise<Pick<BankSettings, 'url'> | undefined>,
  open: OpenLink = openLink,
): HandOnFault {
  return async (bankId, order) => {
    const settings = await settingsOf(bankId);
    if (!settings) return false;
    const { origin, pathname } = new URL(settings.url);
    const link = open(origin, connectMs);
    const answer = await link.ask({
      method: 'POST',
      target: `${pathname.replace(/\/$/, '')}/faults`,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(order)),
      answerMs,
    });
    await link.stop();
    return answer.kind === 'answer' && answer.status === 200;
  };
}
