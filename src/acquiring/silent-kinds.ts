// Says once that a bank does not answer one kind of request, and once that it does again. Such a bank may answer all others, so it is not
// away, and the jobs that wait for it log at `debug`.
import type { Logger } from '../platform/log.ts';
import type { BankResponse } from './domain/bank-port.ts';
import type { Asked } from './observed-bank.ts';

export function watchSilentKinds(log: Pick<Logger, 'warn'>) {
  const silent = new Set<string>();
  return (bank: string, kind: Asked, answer: BankResponse): void => {
    const name = `${bank} ${kind}`;
    if (answer.outcome === 'unknown' && answer.isSilence) {
      if (!silent.has(name)) log.warn({ bank, kind, because: answer.why }, 'bank does not answer');
      silent.add(name);
    } else if (answer.outcome !== 'unknown' && answer.outcome !== 'notSent' && silent.delete(name)) {
      log.warn({ bank, kind }, 'bank answers again');
    }
  };
}
