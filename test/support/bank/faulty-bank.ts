// Stands between the service and the simulated bank: a test decides what happens to a message, in no time. What passes reaches the real
// bank, so its report says what was done.
import type { Bank, BankResponse, BankOperation, MayStill } from '../../../src/acquiring/domain/bank-port.ts';
import type { Banks } from '../../../src/acquiring/banks.ts';

type Asked = BankOperation['kind'] | 'inquire' | 'resume';

/** What happens to a message: done with the response lost, lost on the way, not sent, sent after a wait, or another response. */
export type Mishap = 'answer lost' | 'message lost' | 'not sent' | 'waits' | BankResponse;

export type FaultyBank = {
  /** The kinds of messages that came, in order. */
  readonly asked: Asked[];
  /** What was sent, without inquiries. */
  readonly sent: BankOperation[];
  /** For the next messages of that kind, one after the other; then they pass again. */
  happens(kind: Asked, ...mishaps: readonly Mishap[]): void;
  /** Runs `what` while the next message of that kind is on its way. */
  meanwhile(kind: Asked, what: () => Promise<unknown>): void;
  /** For every message of that kind, until it is changed. */
  always(kind: Asked, mishap: Mishap | undefined): void;
};

export function waylay(banks: Banks): FaultyBank {
  const asked: Asked[] = [];
  const sent: BankOperation[] = [];
  const coming = new Map<Asked, Mishap[]>();
  const besides = new Map<Asked, () => Promise<unknown>>();
  const lasting = new Map<Asked, Mishap>();

  async function pass(
    kind: Asked,
    go: () => Promise<BankResponse>,
    mayStill: MayStill = () => true,
  ): Promise<BankResponse> {
    asked.push(kind);
    const what = besides.get(kind);
    besides.delete(kind);
    await what?.();
    const mishap = coming.get(kind)?.shift() ?? lasting.get(kind);
    if (mishap === undefined) return go();
    if (mishap === 'waits')
      return (await mayStill()) ? go() : { outcome: 'notSent', why: mishap, turnedAway: true };
    if (mishap === 'answer lost') await go();
    if (mishap === 'answer lost' || mishap === 'message lost') return { outcome: 'unknown', why: mishap };
    return mishap === 'not sent' ? { outcome: 'notSent', why: mishap } : mishap;
  }

  const { bankOf } = banks;
  const between = (bank: Bank): Bank => ({
    ...bank,
    send(operation, mayStill, isTooLate) {
      sent.push(operation);
      return pass(operation.kind, () => bank.send(operation, mayStill, isTooLate), mayStill);
    },
    inquire: (operation) => pass('inquire', () => bank.inquire(operation)),
    resume: (operation, returned) => pass('resume', () => bank.resume(operation, returned)),
  });
  Object.assign(banks, { bankOf: async (terminal: never) => between(await bankOf(terminal)) });
  return {
    asked,
    sent,
    happens: (kind, ...mishaps) => void coming.set(kind, [...mishaps]),
    meanwhile: (kind, what) => void besides.set(kind, what),
    always: (kind, mishap) => void (mishap === undefined ? lasting.delete(kind) : lasting.set(kind, mishap)),
  };
}
